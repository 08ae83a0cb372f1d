import { echo, fail, isStemmaError } from '@stemma/errors';

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** The result of `action`; errors of the file system become E_IO. */
export const io = async <T>(place: string, action: () => Promise<T>): Promise<T> => {
  try {
    return await action();
  } catch (error) {
    const errno = codeOf(error);
    if (isStemmaError(error) || errno === undefined) throw error;
    // What the system says ends with the path.
    const why = errno === 'ENOSPC' ? 'the disk is full' : (error as Error).message.replace(/, \w+ '.*/s, '');
    throw fail('E_IO', `the backup ${echo(place)} cannot be read or written: ${why}`, { errno });
  }
};
