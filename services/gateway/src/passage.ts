import type { LeftNode } from '@stemma/api';
import { enteredIds, removalBy, removedIds, type HistoryEvent } from '@stemma/events';
import type { Home } from '@stemma/home';
import type { HistorySummary } from '@stemma/queries';
import { chainLimits } from './lines.ts';

/** What came into a tree and what left it on the way from one position to a later one of the same chain. */
export type Passage = {
  readonly came: Set<string>;
  readonly left: Map<string, NonNullable<LeftNode['cause']>>;
};

const FRAMES_AT_ONCE = 64;

/** The passages between positions of one chain, given by their frames, oldest first: one for each but the first. */
export const passages = async (
  home: Home,
  summary: HistorySummary,
  strand: number,
  seqs: readonly number[],
): Promise<readonly Passage[]> => {
  const limits = chainLimits(summary, strand);
  const list: Passage[] = seqs.slice(1).map(() => ({ came: new Set(), left: new Map() }));
  const end = seqs.at(-1) ?? -1;
  let at = 0;
  for (let from = (seqs[0] ?? 0) + 1; from <= end;) {
    const events = await home.events(summary.history, { from, limit: FRAMES_AT_ONCE });
    for (const { seq, strand: own, event } of events) {
      if (seq > end) return list;
      while (seq > (seqs[at + 1] ?? end)) at++;
      const passage = list[at];
      if (passage !== undefined && seq <= (limits.get(own) ?? -1)) walk(passage, event);
    }
    const last = events.at(-1);
    if (last === undefined) return list;
    from = last.seq + 1;
  }
  return list;
};

const walk = (passage: Passage, event: HistoryEvent): void => {
  for (const id of enteredIds(event)) passage.came.add(id);
  const cause = removalBy(event);
  if (cause !== null) for (const id of removedIds(event)) leave(passage, id, cause);
};

/** What came and went in between was in neither of the two. */
const leave = ({ came, left }: Passage, id: string, cause: NonNullable<LeftNode['cause']>): void => {
  if (!came.delete(id)) left.set(id, cause);
};
