/** The pauses between attempts. */
export type BackOff = {
  /** The bound of the first pause, in milliseconds; it doubles with every attempt. */
  readonly first: number;
  /** The longest pause, in milliseconds. */
  readonly longest: number;
  /**
   * A number in [0, 1): the part of the bound to wait, so that several clients do not retry at once. Default: all of
   * it.
   */
  readonly random?: () => number;
};

/**
 * The pause before the next attempt, in milliseconds: with `{ first: 100, longest: 10_000 }` 100, 200, 400 … 10,000.
 * With `random` it is a random part of that (exponential back-off with full jitter, M. Brooker, "Exponential Backoff
 * And Jitter", AWS Architecture Blog 2015).
 *
 * @param failed how many attempts failed so far, 1 or more.
 */
export const backOff = (failed: number, { first, longest, random = () => 1 }: BackOff): number =>
  random() * Math.min(first * 2 ** (failed - 1), longest);
