import { fail, isStemmaError } from '@stemma/errors';

/**
 * Resolves if a service can do its work.
 *
 * @param check throws while the service cannot work. A check that takes longer than `patience` milliseconds has failed.
 * @throws an error with HTTP status 503: that of `check` if it has this status, else E_BUSY
 */
export const checkReady = async (check: () => Promise<void> | void, patience = 10_000): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(fail('E_BUSY', `a dependency has not answered for ${patience / 1000} s`));
    }, patience);
  });
  try {
    await Promise.race([check(), late]);
  } catch (error) {
    if (isStemmaError(error) && error.row.status === 503) throw error;
    throw fail(
      'E_BUSY',
      `the service cannot work: ${isStemmaError(error) ? error.message : 'a fault of Stemma'}`,
    );
  } finally {
    clearTimeout(timer);
  }
};
