import { cosineIndex, nearestRows, seededRandom } from '@stemma/analysis';

export type SearchInput = { readonly rows: number; readonly dimension: number; readonly repetitions: number };

/** Milliseconds of the processor for a question. */
export type Searched = {
  readonly search: number;
  /** A loop that multiplies and adds, with one sum and with four, and does nothing with them. */
  readonly oneSum: number;
  readonly fourSums: number;
};

/** The 10 nearest of all rows, and bare loops over the same numbers, in turn. */
export const searchVectors = async ({ rows, dimension, repetitions }: SearchInput): Promise<Searched> => {
  const { unit } = seededRandom(1);
  const values = Float32Array.from({ length: rows * dimension }, () => unit() - 0.5);
  const index = cosineIndex(values, dimension);
  const query = Float32Array.from({ length: dimension }, () => unit() - 0.5);
  const sums = new Float64Array(rows);
  const ways: Readonly<Record<keyof Searched, () => unknown>> = {
    search: () => nearestRows(index, query, 10),
    oneSum: () => withOneSum(values, query, sums),
    fourSums: () => withFourSums(values, query, sums),
  };
  const spent: Record<keyof Searched, number> = { search: 0, oneSum: 0, fourSums: 0 };
  // The first round compiles.
  for (let i = 0; i <= repetitions; i += 1)
    for (const [name, way] of Object.entries(ways)) {
      const before = process.cpuUsage();
      way();
      const { user, system } = process.cpuUsage(before);
      if (i > 0) spent[name as keyof Searched] += (user + system) / 1000 / repetitions;
    }
  return spent;
};

const withOneSum = (values: Float32Array, query: Float32Array, sums: Float64Array): void => {
  const dimension = query.length;
  for (let i = 0, at = 0; i < sums.length; i += 1) {
    let sum = 0;
    for (let k = 0; k < dimension; k += 1, at += 1) sum += values[at]! * query[k]!;
    sums[i] = sum;
  }
};

const withFourSums = (values: Float32Array, query: Float32Array, sums: Float64Array): void => {
  const dimension = query.length;
  for (let i = 0, at = 0; i < sums.length; i += 1) {
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let k = 0; k < dimension; k += 4, at += 4) {
      a += values[at]! * query[k]!;
      b += values[at + 1]! * query[k + 1]!;
      c += values[at + 2]! * query[k + 2]!;
      d += values[at + 3]! * query[k + 3]!;
    }
    sums[i] = a + b + c + d;
  }
};
