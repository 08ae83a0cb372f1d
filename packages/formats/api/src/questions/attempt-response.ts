import { one } from '../attempts.ts';
import type { Question } from '../endpoint.ts';

export const attemptResponse = {
  name: 'attemptResponse',
  method: 'GET',
  path: '/api/histories/{history}/attempts/{attempt}/response',
  summary: 'Returns the body of the response as it came, byte for byte; of a stream, the stream.',
  params: one,
  answer: { kind: 'bytes', mime: 'application/octet-stream', describe: 'the bytes on the wire' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_CALL_NOT_FOUND', 'E_CALL_BODY_NOT_KEPT', 'E_CALL_BODY_DAMAGED'],
} as const satisfies Question;
