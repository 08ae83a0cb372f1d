import { compareSamples, mapVectors, readVectors, selectRows, type Vectors } from '@stemma/analysis';
import { readFileSync } from 'node:fs';
import { timed } from '../measure.ts';

export type CompareInput = { readonly file: string; readonly rows: number };

/** Milliseconds of a comparison of the first rows of a file with the next ones, and of a map of both. */
export type Compared = { readonly compare: number; readonly map: number };

export const compareVectors = async ({ file, rows }: CompareInput): Promise<Compared> => {
  const { vectors } = readVectors(readFileSync(file));
  const from = (first: number, count: number): Vectors =>
    selectRows(
      vectors,
      Int32Array.from({ length: count }, (_, i) => first + i),
    );
  const [a, b] = [from(0, rows), from(rows, rows)];
  const { ms: compare } = await timed(() => compareSamples({ vectors: a }, { vectors: b }));
  const { ms: map } = await timed(() => mapVectors(from(0, 2 * rows)));
  return { compare, map };
};
