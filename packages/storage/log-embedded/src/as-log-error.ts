import { fail, isStemmaError, reasonOf } from '@stemma/errors';

/** What `fn` gives; the system's errors become E_IO. */
export const asLogError = <T>(what: string, fn: () => T): T => {
  try {
    return fn();
  } catch (error) {
    if (isStemmaError(error)) throw error;
    throw fail('E_IO', `${what}: ${reasonOf(error)}`);
  }
};
