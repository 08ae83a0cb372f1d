const NANOSECONDS = 1_000_000n;

/** Whole milliseconds of an instant or a duration in nanoseconds, truncated towards 0. */
export const millisecondsOf = (nanoseconds: bigint): number => Number(nanoseconds / NANOSECONDS);

/** Nanoseconds of whole milliseconds; throws `RangeError` where `milliseconds` is no integer. */
export const nanosecondsOf = (milliseconds: number): bigint => BigInt(milliseconds) * NANOSECONDS;
