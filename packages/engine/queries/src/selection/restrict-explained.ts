import type { ExplainedDiff } from '../causes/types.ts';
import type { DiffResult } from '../read-types.ts';

/** An explained diff with only the entries of a restricted diff of the same positions. */
export const restrictExplained = (explained: ExplainedDiff, diff: DiffResult): ExplainedDiff => {
  const ids = new Set([...diff.added, ...diff.removed, ...diff.changed.map(({ id }) => id)]);
  return {
    ...explained,
    ...diff,
    entries: explained.entries.filter(({ id }) => ids.has(id)),
    moves: explained.moves.filter(({ from, to }) => ids.has(from) || ids.has(to)),
  };
};
