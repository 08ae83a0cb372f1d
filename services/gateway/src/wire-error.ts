import { ERRORS, isStemmaError, StemmaError, type ErrorCode, type ErrorDetail } from '@stemma/errors';

/** An error on its way between threads and processes. */
export type WireError = { readonly code: ErrorCode; readonly message: string; readonly detail: ErrorDetail };

export const toWireError = (error: unknown): WireError =>
  isStemmaError(error)
    ? { code: error.code, message: error.message, detail: error.detail }
    : { code: 'E_INTERNAL', message: error instanceof Error ? error.message : String(error), detail: {} };

export const fromWireError = ({ code, message, detail }: WireError): StemmaError =>
  new StemmaError(code in ERRORS ? code : 'E_INTERNAL', message, detail);
