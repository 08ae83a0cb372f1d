import { toWireJson } from '@stemma/api';
import { errorToHttpJson, StemmaError } from '@stemma/errors';
import { withSafeHeaders } from '../headers.ts';
import type { HttpAnswer } from './answer.ts';

/** Codes after which the rest of what the client sends is not worth reading. */
const CLOSING = new Set(['E_INPUT_TOO_LARGE', 'E_REQUEST_SLOW', 'E_BUSY']);

/** The answer that an error is. What passes by itself names the time after which it is worth asking again. */
export const errorAnswer = (error: unknown): HttpAnswer => {
  const status = error instanceof StemmaError ? error.row.status : 500;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (status === 503 || status === 429) headers['retry-after'] = '1';
  if (error instanceof StemmaError && error.code === 'E_METHOD_NOT_ALLOWED')
    headers['allow'] = String(error.detail['allow']);
  if (error instanceof StemmaError && CLOSING.has(error.code)) headers['connection'] = 'close';
  return { status, headers: withSafeHeaders(headers), body: toWireJson(errorToHttpJson(error)) };
};
