import { one } from '../attempts.ts';
import type { Question } from '../endpoint.ts';

export const attemptCame = {
  name: 'attemptCame',
  method: 'GET',
  path: '/api/histories/{history}/attempts/{attempt}/came',
  summary: 'Returns the body of the request as it came, before observers changed it, byte for byte.',
  params: one,
  answer: { kind: 'bytes', mime: 'application/octet-stream', describe: 'the bytes on the wire' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_CALL_NOT_FOUND', 'E_CALL_BODY_NOT_KEPT', 'E_CALL_BODY_DAMAGED'],
} as const satisfies Question;
