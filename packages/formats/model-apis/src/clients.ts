import type { WideJsonObject } from '@stemma/canonical';
import type { ErrorToWrite } from './api-format.ts';
import { READ_APIS, type ModelApi, type ReadApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import { plainPath } from './api-of.ts';
import { openaiError } from './chat/error.ts';

/** The API of each name that a mind's begins with: `anthropic` of `anthropic:MODEL`. */
export const mindNames = (): ReadonlyMap<string, ReadApi> =>
  new Map(READ_APIS.map((api) => [formatOf(api).client.mind, api]));

/** What the name of a mind that is asked in an API begins with; null: none is. */
export const mindOf = (api: ModelApi): string | null => (api === 'other' ? null : formatOf(api).client.mind);

/** What follows the address of a provider's API in the URL of a request that asks a model. */
export const pathOfMind = (api: ReadApi, model: string, stream = false): string =>
  formatOf(api).client.path(model, stream);

/** The path of a provider's API, of the path of a request: without what its clients append. */
export const apiPathOf = (path: string): string => {
  const format = READ_APIS.map(formatOf).find(({ isPath }) => isPath(plainPath(path)));
  return format === undefined ? path : path.replace(format.client.tail, '');
};

/** True if the path of a request says whether its answer is streamed, and which model is asked. */
export const isStreamInPath = (api: ReadApi): boolean => formatOf(api).ofPath !== undefined;

/** The fields of a request that hold its messages. */
export const messageFieldsOf = (api: ReadApi): readonly string[] => formatOf(api).fields;

/** The field of a request that holds its tools. */
export const toolFieldOf = (api: ReadApi): string => formatOf(api).tools?.field ?? 'tools';

/** The body of an error, as clients of an API expect it; of an API that is not known, as OpenAI's has it. */
export const writeError = (api: ModelApi, error: ErrorToWrite): WideJsonObject =>
  api === 'other' ? openaiError(error) : formatOf(api).errorBody(error);
