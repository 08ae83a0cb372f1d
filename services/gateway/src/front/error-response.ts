import { toWireJson } from '@stemma/api';
import { errorToHttpJson, StemmaError } from '@stemma/errors';
import { setSafeHeaders } from '../headers.ts';

/** Codes after which the rest of what the client sends is not worth reading. */
const CLOSING = new Set(['E_INPUT_TOO_LARGE', 'E_REQUEST_SLOW', 'E_BUSY']);

/** The answer that an error is. What passes by itself names the time after which it is worth asking again. */
export const errorResponse = (error: unknown): Response => {
  const status = error instanceof StemmaError ? error.row.status : 500;
  const headers = new Headers({ 'content-type': 'application/json' });
  setSafeHeaders(headers);
  if (status === 503 || status === 429) headers.set('retry-after', '1');
  if (error instanceof StemmaError && error.code === 'E_METHOD_NOT_ALLOWED')
    headers.set('allow', String(error.detail['allow']));
  if (error instanceof StemmaError && CLOSING.has(error.code)) headers.set('connection', 'close');
  return new Response(toWireJson(errorToHttpJson(error)), { status, headers });
};
