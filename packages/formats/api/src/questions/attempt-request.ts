import { one } from '../attempts.ts';
import type { Question } from '../endpoint.ts';

export const attemptRequest = {
  name: 'attemptRequest',
  method: 'GET',
  path: '/api/histories/{history}/attempts/{attempt}/request',
  summary: 'Returns the body of the request as it was sent, byte for byte.',
  params: one,
  answer: { kind: 'bytes', mime: 'application/octet-stream', describe: 'the bytes on the wire' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_CALL_NOT_FOUND', 'E_CALL_BODY_NOT_KEPT', 'E_CALL_BODY_DAMAGED'],
} as const satisfies Question;
