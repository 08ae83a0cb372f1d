import { fail, isStemmaError, StemmaError } from '@stemma/errors';
import type { ThreadFailure } from './messages.ts';

/** An error as it is sent to another thread. */
export const failureOf = (error: unknown): ThreadFailure => {
  const { code, message, detail } = isStemmaError(error)
    ? error
    : fail('E_INTERNAL', error instanceof Error ? error.message : String(error));
  return { code, message, detail };
};

/** The error that another thread met. */
export const errorOf = ({ code, message, detail }: ThreadFailure): StemmaError =>
  new StemmaError(code, message, detail);
