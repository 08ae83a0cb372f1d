import { writeError, type ModelApi } from '@stemma/model-apis';
import type { CallReply } from './served-calls.ts';

/** Clients repeat 408, 409, 429 and 5xx; the header tells those of OpenAI and Anthropic that this is not to be repeated, either. */
const STATUS = 400;

/** What a client is told whose call nothing answers, in the form of the errors of its API. No client repeats it. */
export const stoppedReply = (api: ModelApi, why: string): CallReply => {
  const message = `stemma rerun: ${why}`;
  const body = writeError(api, {
    ...{ status: STATUS, type: 'invalid_request_error', code: 'stemma_rerun_differs' },
    message,
  });
  return {
    kind: 'served',
    status: STATUS,
    headers: {
      'content-type': 'application/json',
      'x-should-retry': 'false',
      'x-stemma-rerun': 'stopped',
    },
    pieces: [new TextEncoder().encode(JSON.stringify(body))],
    isCut: false,
  };
};
