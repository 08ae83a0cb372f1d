import type { Cause, Explains } from '@stemma/history';
import { findFirstFrame, rowsDiffer } from '@stemma/history-store';
import { findRow, listRows, type RowReader } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { findCycle, type AncestryView } from './ancestry-view.ts';
import { insertionOf, nodeChangeOf, type RecordedNodeChange } from './records.ts';
import { CHANGED_NODES, TIMELINE } from './tables.ts';

/** A change of a node by event `index` of frame `seq`, with its cause. */
export type TimelineEntry = {
  readonly branchId: number;
  readonly seq: number;
  readonly index: number;
  /** The cycle that ran; of a commit or import the one that it ended. */
  readonly cycle: number;
  readonly cause: Cause;
  readonly explains: Explains;
  /** Of ageing: the last of the cycles in a row whose commits took one off `ttl`, the first being `cycle`; else null. */
  readonly until: number | null;
  /** The new value, if one was set: the parent's id, the `ttl` that is shown, the priority. */
  readonly parent?: string | null;
  readonly ttl?: number | null;
  readonly priority?: number;
};

/**
 * What events did to a node in all branches of a history, in the order of the record. Empty: there is no such node.
 *
 * @throws E_ROWS_DAMAGED if nothing says how it came
 */
export const readNodeChanges = (
  rows: RowReader,
  history: string,
  id: string,
): readonly RecordedNodeChange[] => {
  const changes = listRows(rows, TIMELINE, { history, node: id }).map(nodeChangeOf);
  if (changes[0]?.explains === 'added') return changes;
  const frame = findFirstFrame(rows, history, id);
  if (frame === undefined) return changes;
  const row = findRow(rows, CHANGED_NODES, { history, branch_id: frame.branchId, seq: frame.seq });
  const insertion = row && insertionOf(row, id);
  if (insertion === undefined) throw rowsDiffer(history, frame.branchId, frame.seq);
  return [insertion, ...changes];
};

/** The nodes that the frames of a branch touched, `from` and `to` inclusive, each frame's in order. */
export const listChangedNodes = (
  rows: RowReader,
  history: string,
  branchId: number,
  from: number,
  to: number,
): readonly { readonly seq: number; readonly nodes: readonly string[] }[] =>
  rows
    .range(CHANGED_NODES, { prefix: [history, branchId], from, to })
    .map(({ key, value }) => ({ seq: key[2], nodes: value[0] as readonly string[] }));

/**
 * The timeline of a node as seen from a position: its insertion, every change on the ancestor path of the position, its
 * removal, in order. Two changes that no event records for each node are included: when it was sealed, and when it aged (the
 * cycles in a row as one moment). Empty if no such node exists.
 */
export const readTimeline = (
  rows: RowReader,
  ancestry: AncestryView,
  id: string,
): readonly TimelineEntry[] => {
  const nodeChanges = readNodeChanges(rows, ancestry.history, id).filter(({ branchId, seq }) =>
    ancestry.includes(branchId, seq),
  );
  if (nodeChanges.length === 0) return [];
  const entries = nodeChanges.map(entryOf);
  const sealedEntry = sealingEntry(rows, ancestry, nodeChanges);
  if (sealedEntry !== undefined) entries.push(sealedEntry);
  entries.push(...ageingEntries(rows, ancestry, nodeChanges, 0, ancestry.cycle));
  return entries.sort((a, b) => a.seq - b.seq || a.index - b.index);
};

const entryOf = (nodeChange: RecordedNodeChange): TimelineEntry => {
  const { branchId, seq, index, cycle, cause, explains, parent, ttl, priority } = nodeChange;
  return {
    branchId,
    seq,
    index,
    cycle,
    cause,
    explains,
    until: null,
    ...defined({ parent, ttl, priority }),
  };
};

/** The cycle in which it was removed on this path, if it was. */
const removedInCycle = (nodeChanges: readonly RecordedNodeChange[]): number =>
  nodeChanges.find(({ explains }) => explains === 'removed')?.cycle ?? Infinity;

/** When the commit moved it under a turn: a node in the head at the end of a cycle never moves afterwards. */
const sealingEntry = (
  rows: RowReader,
  ancestry: AncestryView,
  nodeChanges: readonly RecordedNodeChange[],
): TimelineEntry | undefined => {
  const seals = nodeChanges.findLast((nodeChange) => nodeChange.parent !== undefined)?.seals ?? null;
  if (seals === null || seals > ancestry.cycle || removedInCycle(nodeChanges) <= seals) return undefined;
  const commit = findCycle(rows, ancestry, seals);
  if (commit?.turn == null) return undefined;
  const { branchId, seq, cycle, turn } = commit;
  const cause: Cause = { kind: 'sealing', turn: turn.id };
  return {
    branchId,
    seq,
    index: turn.index,
    cycle,
    cause,
    explains: ['parent'],
    until: null,
    parent: turn.id,
  };
};

/**
 * The commits of cycles `low` + 1 … `high` that took one off the `ttl` of a node: it shows N until cycle E − 1 − N, and one
 * less with each cycle to E − 1, E being the first without it (snapshots: expires).
 */
export const ageingEntries = (
  rows: RowReader,
  ancestry: AncestryView,
  nodeChanges: readonly RecordedNodeChange[],
  afterCycle: number,
  untilCycle: number,
): readonly TimelineEntry[] => {
  const removedIn = removedInCycle(nodeChanges);
  const settings = nodeChanges.filter(({ expires }) => expires !== undefined);
  return settings.flatMap(({ ttl, expires }, i): readonly TimelineEntry[] => {
    if (typeof ttl !== 'number' || typeof expires !== 'number') return [];
    const next = settings[i + 1]?.cycle ?? Infinity;
    const first = Math.max(expires - ttl, afterCycle + 1);
    const last = Math.min(expires - 1, untilCycle, removedIn - 1, next - 1);
    const commit = first > last ? undefined : findCycle(rows, ancestry, first);
    if (commit === undefined) return [];
    const { branchId, seq, index, cycle } = commit;
    return [
      {
        branchId,
        seq,
        index,
        cycle,
        cause: { kind: 'ageing' },
        explains: ['ttl'],
        until: last,
        ttl: expires - 1 - last,
      },
    ];
  });
};
