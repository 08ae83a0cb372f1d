import type { BranchPosition } from '@stemma/events';
import {
  listOwnSnapshots,
  newestTurn,
  readBlocksAt,
  readBlockVersions,
  readBranch,
  readPositionMeta,
  turnCycles,
  type BlockVersion,
} from '@stemma/history-store';
import {
  findHistory,
  firstCallRow,
  INTERVENTIONS,
  listBranches,
  listCalledPositions,
} from '@stemma/read-models';
import { listRows, type RowReader } from '@stemma/row-store';

export type ImpactCall = {
  readonly cycle: number;
  readonly seq: number;
  /** False for a cycle whose head was empty: it has no turn. */
  readonly sealed: boolean;
  /** False for a commit that no call stands behind. */
  readonly made: boolean;
};

/** What one branch did after the intervention, or after it left its parent, in the order of the record. */
export type BranchFacts = {
  readonly branchId: number;
  /** The branch and frame that it starts from; null for the intervention's own branch. */
  readonly from: BranchPosition | null;
  readonly versions: readonly BlockVersion[];
  readonly calls: readonly ImpactCall[];
};

/** The facts that an intervention's impact is computed from. */
export type ImpactFacts = {
  readonly seq: number;
  readonly thread: 'full' | 'pre';
  /** The newest cycle before the intervention, and that of the newest turn. */
  readonly cycle: number;
  readonly turn: number;
  /** The blocks that the intervention changed, as they were before it. */
  readonly before: readonly BlockVersion[];
  /** Parents first. */
  readonly branches: readonly BranchFacts[];
  /** True if calls are recorded: only these count. False: each commit is taken for one. */
  readonly areRecorded: boolean;
  /** True for frames of actors: blocks that they insert are no answers. */
  readonly byActor: (seq: number) => boolean;
};

/**
 * The facts after an intervention: rows of its branch from its frame on, and of every branch that starts from one of
 * those.
 *
 * @throws E_BRANCH_NOT_FOUND, E_HISTORY_NOT_FOUND
 */
export const readImpactFacts = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
): ImpactFacts => {
  const { thread } = readBranch(rows, history, branchId);
  const actors = new Set(
    listRows(rows, INTERVENTIONS, { history }, { from: seq }).map((intervention) => intervention.seq),
  );
  const first = firstRecorded(rows, history);
  const branches = branchesAfter(rows, history, branchId, seq).map((branch): BranchFacts => {
    const since = branch.branchId === branchId ? seq : 0;
    return {
      ...branch,
      versions: readBlockVersions(rows, history, branch.branchId, since, thread),
      calls: callsOf(rows, history, branch.branchId, { since, thread, first }),
    };
  });
  const changedIds = branches[0]?.versions.filter(({ from }) => from === seq).map(({ id }) => id) ?? [];
  const positionBefore = { branchId, seq: seq - 1 };
  return {
    seq,
    thread,
    cycle: seq === 0 ? 0 : readPositionMeta(rows, history, branchId, seq - 1).meta.cycle,
    turn: thread === 'full' || seq === 0 ? 0 : newestTurn(rows, history, positionBefore),
    before: seq === 0 ? [] : readBlocksAt(rows, history, positionBefore, [...new Set(changedIds)], thread),
    branches,
    areRecorded: first !== null,
    byActor: (frame) => actors.has(frame),
  };
};

/** The intervention's branch, and those that start after the intervention, parents first. */
const branchesAfter = (
  rows: RowReader,
  history: string,
  own: number,
  seq: number,
): readonly Pick<BranchFacts, 'branchId' | 'from'>[] => {
  const parents = new Map<number, { readonly branchId: number; readonly at: number }>();
  const found = new Map<number, Pick<BranchFacts, 'branchId' | 'from'>>([
    [own, { branchId: own, from: null }],
  ]);
  for (const { branchId, parent } of listBranches(rows, history)) {
    if (parent === null) continue;
    parents.set(branchId, { branchId: parent.branchId, at: parent.seq });
    if (branchId <= own) continue;
    // A branch may start from a position before its parent began: then from an ancestor of that parent.
    let from: { branchId: number; at: number } | undefined = { branchId: parent.branchId, at: parent.seq };
    while (from !== undefined && from.at < from.branchId) {
      const parentOf = parents.get(from.branchId);
      from = parentOf && { branchId: parentOf.branchId, at: Math.min(parentOf.at, from.at) };
    }
    if (from === undefined || !found.has(from.branchId) || (from.branchId === own && from.at < seq)) continue;
    found.set(branchId, { branchId, from: { branchId: from.branchId, seq: from.at } });
  }
  return [...found.values()];
};

/**
 * The frame of the first recorded call; null: there is none. In an imported history the commits before it are taken for
 * calls as well: they are those of the imported record.
 */
const firstRecorded = (
  rows: RowReader,
  history: string,
): { readonly seq: number; readonly isImport: boolean } | null => {
  const call = firstCallRow(rows, history);
  if (call === undefined) return null;
  return { seq: call.location.seq, isImport: (findHistory(rows, history)?.source ?? null) !== null };
};

type CallsSince = {
  readonly since: number;
  readonly thread: 'full' | 'pre';
  readonly first: ReturnType<typeof firstRecorded>;
};

/** The commits of a branch, and the positions beside them that models were called with. */
const callsOf = (
  rows: RowReader,
  history: string,
  branchId: number,
  { since, thread, first }: CallsSince,
): readonly ImpactCall[] => {
  const turns = thread === 'full' ? null : turnCycles(rows, history, branchId);
  const called = first === null ? [] : listCalledPositions(rows, history, branchId, since);
  const made = new Set(called.map(({ seq }) => seq));
  const commits = listOwnSnapshots(rows, history, branchId).filter(
    (row) => row.seq >= since && !row.imported,
  );
  const isCommit = new Set(commits.map(({ seq }) => seq));
  return [
    ...commits.map(({ cycle, seq }) => ({
      cycle,
      seq,
      sealed: turns === null || turns.has(cycle),
      made: first === null || made.has(seq) || (first.isImport && seq < first.seq),
    })),
    ...called
      .filter(({ seq }) => !isCommit.has(seq))
      .map(({ seq, cycle }) => ({ cycle, seq, sealed: false, made: true })),
  ].sort((a, b) => a.seq - b.seq);
};
