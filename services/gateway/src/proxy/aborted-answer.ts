import type { ModelApi } from '@stemma/model-apis';
import type { HttpAnswer } from '../front/answer.ts';

/** No client sends a request again that was refused so. */
const STATUS = 403;

/** What a client is told whose call an observer ended, in the form of the errors of its API. */
export const abortedAnswer = (api: ModelApi, message: string): HttpAnswer => ({
  status: STATUS,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(
    api === 'anthropic.messages'
      ? { type: 'error', error: { type: 'permission_error', message } }
      : { error: { message, type: 'invalid_request_error', param: null, code: 'stemma_aborted' } },
  ),
});
