import { isStemmaError, StemmaError, type ErrorDetail } from './stemma-error.ts';
import { reasonOf } from './reason-of.ts';
import { ERRORS, type ErrorCode } from './table.ts';

/** An error on its way between threads and processes. */
export type WireError = { readonly code: ErrorCode; readonly message: string; readonly detail: ErrorDetail };

/** An error as it is sent; one without a code is E_INTERNAL. */
export const toWireError = (error: unknown): WireError =>
  isStemmaError(error)
    ? { code: error.code, message: error.message, detail: error.detail }
    : { code: 'E_INTERNAL', message: reasonOf(error), detail: {} };

/** The error that was sent. */
export const fromWireError = ({ code, message, detail }: WireError): StemmaError =>
  new StemmaError(code in ERRORS ? code : 'E_INTERNAL', message, detail);
