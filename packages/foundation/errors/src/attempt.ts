/**
 * Calls `fn` now and gives what it returned or threw later, when the result is called.
 *
 * @param isThrownNow errors that are thrown at once all the same.
 */
export const attempt = <T>(
  fn: () => T,
  isThrownNow: (error: unknown) => boolean = () => false,
): (() => T) => {
  try {
    const value = fn();
    return () => value;
  } catch (error) {
    if (isThrownNow(error)) throw error;
    return () => {
      throw error;
    };
  }
};
