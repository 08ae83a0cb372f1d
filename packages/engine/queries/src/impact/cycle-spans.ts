import type { CycleSpan } from './types.ts';

/** Collects cycles by block and branch, and returns the first, the last and the number of each. */
export const openCycleSpans = () => {
  const found = new Map<string, Map<number, { first: number; last: number; count: number }>>();
  return {
    add: (id: string, branchId: number, cycle: number): void => {
      const byBranch = found.get(id) ?? new Map<number, { first: number; last: number; count: number }>();
      found.set(id, byBranch);
      const span = byBranch.get(branchId);
      if (span === undefined) byBranch.set(branchId, { first: cycle, last: cycle, count: 1 });
      else {
        span.last = cycle;
        span.count++;
      }
    },
    spansOf: (id: string): readonly CycleSpan[] =>
      [...(found.get(id) ?? [])].map(([branchId, span]) => ({ branchId, ...span })),
  };
};
