import type { FlatTree } from '@stemma/context-tree';

/** Stretches of ascending numbers, [from, to) each, as pairs one after the other, ascending by where they begin. */
export type Stretches = Int32Array;

/** The same numbers as stretches that do not overlap. */
export const mergeStretches = (stretches: Stretches): Stretches => {
  const merged = new Int32Array(stretches.length);
  let size = 0;
  let [from, to] = [0, 0];
  const close = (): void => {
    if (to <= from) return;
    merged[size++] = from;
    merged[size++] = to;
  };
  for (let i = 0; i < stretches.length; i += 2) {
    const [low, high] = [stretches[i] as number, stretches[i + 1] as number];
    if (low <= to && to > from) to = Math.max(to, high);
    else {
      close();
      from = low;
      to = high;
    }
  }
  close();
  return merged.subarray(0, size);
};

/** The part of stretches that do not overlap that lies in [low, high). */
export const clipStretches = (stretches: Stretches, low: number, high: number): Stretches => {
  if (stretches.length === 0) return stretches;
  if (low <= (stretches[0] as number) && (stretches.at(-1) as number) <= high) return stretches;
  const clipped: number[] = [];
  for (let i = 0; i < stretches.length; i += 2) {
    const from = Math.max(stretches[i] as number, low);
    const to = Math.min(stretches[i + 1] as number, high);
    if (from < to) clipped.push(from, to);
  }
  return Int32Array.from(clipped);
};

/** Those of the ascending numbers that lie in one of the stretches, each once. */
export const inStretches = (numbers: readonly number[], stretches: Stretches): readonly number[] => {
  const found: number[] = [];
  const merged = mergeStretches(stretches);
  for (let s = 0; s < merged.length; s += 2) {
    const to = merged[s + 1] as number;
    for (let i = lowerBound(numbers, merged[s] as number); i < numbers.length; i++) {
      if ((numbers[i] as number) >= to) break;
      found.push(numbers[i] as number);
    }
  }
  return found;
};

/** Those of the ascending codes that lie in stretches that do not overlap. */
export const within = (codes: Int32Array, stretches: Stretches): Int32Array => {
  if (stretches.length === 0 || codes.length === 0) return codes.subarray(0, 0);
  if (stretches.length === 2)
    return codes.subarray(
      lowerBound(codes, stretches[0] as number),
      lowerBound(codes, stretches[1] as number),
    );
  const found = new Int32Array(codes.length);
  let size = 0;
  for (let s = 0; s < stretches.length; s += 2) {
    const to = stretches[s + 1] as number;
    for (let i = lowerBound(codes, stretches[s] as number); i < codes.length; i++) {
      const code = codes[i] as number;
      if (code >= to) break;
      found[size++] = code;
    }
  }
  return found.subarray(0, size);
};

/** The nodes from the beginning of each stretch of codes on that are siblings, up to its end. */
export const siblingsIn = ({ ends }: FlatTree, stretches: Stretches): Int32Array => {
  let size = 0;
  for (let s = 0; s < stretches.length; s += 2) {
    const to = (stretches[s + 1] as number) >> 1;
    for (let i = (stretches[s] as number) >> 1; i < to; i = ends[i] as number) size++;
  }
  const found = new Int32Array(size);
  size = 0;
  for (let s = 0; s < stretches.length; s += 2) {
    const to = (stretches[s + 1] as number) >> 1;
    for (let i = (stretches[s] as number) >> 1; i < to; i = ends[i] as number) found[size++] = i;
  }
  return found;
};

/** Where the first of the ascending numbers stands that is not below `least`. */
export const lowerBound = (numbers: ArrayLike<number>, least: number): number => {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
};
