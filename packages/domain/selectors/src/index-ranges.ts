import { lowerBound } from '@stemma/canonical';
import type { FlatTree } from '@stemma/context-tree';

/** Ranges of numbers, [from, to) each, stored as pairs one after the other, ascending by their start. */
export type IndexRanges = Int32Array;

/** The same numbers in ranges that do not overlap. */
export const mergeRanges = (ranges: IndexRanges): IndexRanges => {
  const merged = new Int32Array(ranges.length);
  let size = 0;
  let [from, to] = [0, 0];
  const close = (): void => {
    if (to <= from) return;
    merged[size++] = from;
    merged[size++] = to;
  };
  for (let i = 0; i < ranges.length; i += 2) {
    const [low, high] = [ranges[i] as number, ranges[i + 1] as number];
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

/** The part of non-overlapping ranges that lies in [low, high). */
export const clipRanges = (ranges: IndexRanges, low: number, high: number): IndexRanges => {
  if (ranges.length === 0) return ranges;
  if (low <= (ranges[0] as number) && (ranges.at(-1) as number) <= high) return ranges;
  const clipped: number[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const from = Math.max(ranges[i] as number, low);
    const to = Math.min(ranges[i + 1] as number, high);
    if (from < to) clipped.push(from, to);
  }
  return Int32Array.from(clipped);
};

/** Those of the ascending numbers that lie in one of the ranges, each once. */
export const numbersInRanges = (numbers: readonly number[], ranges: IndexRanges): readonly number[] => {
  const found: number[] = [];
  const merged = mergeRanges(ranges);
  for (let s = 0; s < merged.length; s += 2) {
    const to = merged[s + 1] as number;
    for (let i = firstFrom(numbers, merged[s] as number); i < numbers.length; i++) {
      if ((numbers[i] as number) >= to) break;
      found.push(numbers[i] as number);
    }
  }
  return found;
};

/** Those of the ascending codes that lie in one of the non-overlapping ranges. */
export const codesInRanges = (codes: Int32Array, ranges: IndexRanges): Int32Array => {
  if (ranges.length === 0 || codes.length === 0) return codes.subarray(0, 0);
  if (ranges.length === 2)
    return codes.subarray(firstFrom(codes, ranges[0] as number), firstFrom(codes, ranges[1] as number));
  const found = new Int32Array(codes.length);
  let size = 0;
  for (let s = 0; s < ranges.length; s += 2) {
    const to = ranges[s + 1] as number;
    for (let i = firstFrom(codes, ranges[s] as number); i < codes.length; i++) {
      const code = codes[i] as number;
      if (code >= to) break;
      found[size++] = code;
    }
  }
  return found.subarray(0, size);
};

/** Of each range of codes the node at its start and the siblings of that node, up to the end of the range. */
export const siblingsIn = ({ ends }: FlatTree, ranges: IndexRanges): Int32Array => {
  let size = 0;
  for (let s = 0; s < ranges.length; s += 2) {
    const to = (ranges[s + 1] as number) >> 1;
    for (let i = (ranges[s] as number) >> 1; i < to; i = ends[i] as number) size++;
  }
  const found = new Int32Array(size);
  size = 0;
  for (let s = 0; s < ranges.length; s += 2) {
    const to = (ranges[s + 1] as number) >> 1;
    for (let i = (ranges[s] as number) >> 1; i < to; i = ends[i] as number) found[size++] = i;
  }
  return found;
};

/** The index of the first of the ascending numbers that is at least `least`. */
export const firstFrom = (numbers: ArrayLike<number>, least: number): number =>
  lowerBound(0, numbers.length, (i) => (numbers[i] as number) < least);
