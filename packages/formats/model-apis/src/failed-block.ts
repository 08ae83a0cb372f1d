import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isFailedResult } from './wire-order.ts';

/**
 * True for a block that is the result of a tool and says of itself that it failed, or was not finished: by a field, as
 * `is_error`, or by a text that begins with `Error:`, as tools without such a field write it.
 */
export const isFailedBlock = (
  role: string | null | undefined,
  payload: { readonly [name: string]: unknown },
): boolean => {
  if (role !== 'tool' && role !== 'function') return false;
  const { content, data_message: note } = payload;
  if (typeof content === 'string' && SAYS_ERROR.test(content)) return true;
  const fields = isJsonObject(note) ? (note as { readonly fields?: WideJson }).fields : undefined;
  return isJsonObject(fields) && isFailedResult({ ...fields, role });
};

const SAYS_ERROR = /^\s*error:/i;
