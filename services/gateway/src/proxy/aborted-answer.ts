import { writeError, type ModelApi } from '@stemma/model-apis';
import type { HttpAnswer } from '../front/answer.ts';

/** No client sends a request again that was refused so, or asks for another key: that is what 401 and 403 stand for. */
const STATUS = 400;

/** What a client is told whose call an observer ended, in the form of the errors of its API. */
export const abortedAnswer = (api: ModelApi, message: string): HttpAnswer =>
  refusal(api, STATUS, 'invalid_request_error', 'stemma_aborted', message);

/** What a client is told whose request is larger than what is recorded, and so stands for no recorded call. */
export const tooLargeAnswer = (api: ModelApi): HttpAnswer =>
  refusal(
    ...([api, 413, 'request_too_large', 'stemma_rerun_too_large'] as const),
    'the request is larger than what is recorded of calls, so no recorded call answers it',
  );

const refusal = (api: ModelApi, status: number, type: string, code: string, message: string): HttpAnswer => ({
  status,
  headers: { 'content-type': 'application/json', 'x-should-retry': 'false' },
  body: JSON.stringify(writeError(api, { status, type, code, message })),
});
