import { CallAnswer, CallRequest } from './commands.ts';
import type { Endpoint } from './endpoint.ts';
import { historyParams } from './values.ts';

/** Records a message list as a call. */
export const RECORD_CALL = {
  recordCall: {
    method: 'POST',
    path: '/api/histories/{history}/calls',
    summary:
      'Records the message list of the next call: inserts new messages, removes missing ones, and commits.',
    params: historyParams,
    body: CallRequest,
    answer: { kind: 'json', status: 200, schema: CallAnswer },
    errors: [
      'E_HISTORY_NOT_FOUND',
      'E_CONFLICT',
      'E_COMMAND_REUSED',
      'E_SEALED',
      'E_INPUT_SHAPE',
      'E_ROLE_UNKNOWN',
      'E_OUTCOME_UNKNOWN',
    ],
  },
} as const satisfies Record<string, Endpoint>;
