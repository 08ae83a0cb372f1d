import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isFailedResult } from '@stemma/model-apis';

/** True for a block that is the result of a tool and says of itself that it failed, or was not finished. */
export const isFailedBlock = (
  role: string | null | undefined,
  payload: { readonly [name: string]: unknown },
): boolean => {
  const note = payload['data_message'] as WideJson | undefined;
  const fields = isJsonObject(note) ? note['fields'] : undefined;
  return isJsonObject(fields) && isFailedResult({ ...fields, role: role ?? '' });
};
