import { isSealedCore } from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import type { Step } from '@stemma/history';
import { listSnapshots, type Position, type TreeView } from '@stemma/history-store';
import { findFrameSummary } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/** Snapshots that are looked at for the newest one of a recorder. */
const MOST_SNAPSHOTS = 64;

/**
 * The position from which a call can go on that would take away what must not vanish without a word: what an observer
 * changed and no call has shown yet, or the core of a sealed turn. It is the one before the earliest such change; undefined
 * if the steps take away nothing of the kind.
 */
export const positionBeforeChanges = (
  rows: RowReader,
  { position, tree }: TreeView,
  steps: readonly Step[],
): BranchPosition | undefined => {
  const { history } = position;
  const authors = new Map<number, boolean>();
  const isByActor = (seq: number): boolean => {
    const known = authors.get(seq) ?? findFrameSummary(rows, history, seq).actor !== null;
    authors.set(seq, known);
    return known;
  };
  let seen: number | undefined;
  let earliest: number | undefined;
  for (const step of steps) {
    if (step.op !== 'remove' && step.op !== 'replace') continue;
    const index = tree.indexOf(step.id);
    const seq = index === undefined ? undefined : tree.payloads[index]?.seq;
    if (index === undefined || seq === undefined) continue;
    const isCore = step.op === 'remove' && isSealedCore(tree, index);
    if (!isCore && !(isByActor(seq) && seq > (seen ??= newestOfRecorder(rows, position, isByActor))))
      continue;
    earliest = Math.min(earliest ?? seq, seq);
  }
  if (earliest === undefined || earliest === 0) return undefined;
  return { branchId: findFrameSummary(rows, history, earliest).branchId, seq: earliest - 1 };
};

/** The frame of the newest snapshot that a recorder made: what it shows was sent. */
const newestOfRecorder = (
  rows: RowReader,
  { history, branchId, seq }: Position,
  isByActor: (seq: number) => boolean,
): number =>
  listSnapshots(rows, history, branchId, seq, { limit: MOST_SNAPSHOTS }).find(
    (snapshot) => !isByActor(snapshot.seq),
  )?.seq ?? -1;
