import type { Stretch } from './types.ts';

/** Cycles by block and lineage, told as the first, the last and how many. */
export const openStretches = () => {
  const found = new Map<string, Map<number, { first: number; last: number; count: number }>>();
  return {
    add: (id: string, strand: number, cycle: number): void => {
      const of = found.get(id) ?? new Map<number, { first: number; last: number; count: number }>();
      found.set(id, of);
      const stretch = of.get(strand);
      if (stretch === undefined) of.set(strand, { first: cycle, last: cycle, count: 1 });
      else {
        stretch.last = cycle;
        stretch.count++;
      }
    },
    of: (id: string): readonly Stretch[] =>
      [...(found.get(id) ?? [])].map(([strand, stretch]) => ({ strand, ...stretch })),
  };
};
