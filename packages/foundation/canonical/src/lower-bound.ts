/**
 * The first index from `low` on, and below `high`, for which `isBelow` is false; `high` if there is none. By halving: an
 * index for which it is true must not follow one for which it is false.
 *
 * @example lowerBound(0, keys.length, (i) => keys[i] < key) // where `key` stands among sorted keys, or would stand
 */
export const lowerBound = (low: number, high: number, isBelow: (i: number) => boolean): number => {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
};
