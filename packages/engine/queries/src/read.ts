import { toHex } from '@stemma/canonical';
import type { EventRef, Payload } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import {
  branchAddressOf,
  listSnapshots,
  positionOfFrame,
  readBranch,
  readFlatTree,
  readHistoryHead,
  readNode,
  readNodeTree,
  readPartialTree,
  readTipSeq,
  type BranchRef,
  type Position,
  type TreeAt,
  type TreeView,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import type { PriceTable } from '@stemma/model-apis';
import { attemptOf } from './calls/attempts.ts';
import { callersIn } from './calls/callers.ts';
import {
  authorOf,
  findFrameSummary,
  findHistory,
  findImport,
  firstCallRow,
  listBranches,
  listCallsAt,
  listLabels,
  listNamedPositions,
  type HistoryRow,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { parseRef, type Marker, type MarkerRange } from '@stemma/selectors';
import { defined, millisecondsOf } from '@stemma/values';
import { findBranchOf } from './find-branch.ts';
import { listOpenedHistories } from './list-opened.ts';
import type {
  BranchSummary,
  HistoryFilter,
  HistoryImport,
  HistoryList,
  HistorySummary,
  SnapshotSummary,
} from './read-types.ts';
import { resolvePosition, type PositionMarker } from './resolve-position.ts';

/** Whether a history is served to its end, and the `seq` at which it stops if not. */
export const stateOf = (rows: RowReader, history: string): Pick<HistorySummary, 'state' | 'stopped'> => {
  const { state, stopped } = readHistoryHead(rows, history) ?? { state: 'open', stopped: null };
  return { state, stopped };
};

/** A page of the histories that a filter lets through, the one that changed last first; equal times by id. */
export const listHistoryPage = (
  rows: RowReader,
  { name, since = -Infinity, skip = 0, limit = Infinity }: HistoryFilter = {},
): HistoryList => {
  const found = listOpenedHistories(rows)
    .map((row) => ({ row, updatedAt: millisecondsOf(row.newestAt) }))
    .filter(({ row, updatedAt }) => updatedAt >= since && (name === undefined || isCalled(row, name)))
    .sort((a, b) => b.updatedAt - a.updatedAt || (a.row.history < b.row.history ? -1 : 1));
  return {
    total: found.length,
    histories: found.slice(skip, skip + limit).map(({ row }) => summaryOf(rows, row)),
  };
};

/** Whether a text stands in a history's name, in any case, or begins its id. */
const isCalled = ({ history, name }: HistoryRow, text: string): boolean =>
  history.startsWith(text) || (name ?? '').toLowerCase().includes(text.toLowerCase());

/** @throws E_HISTORY_NOT_FOUND */
export const oneHistory = (rows: RowReader, history: string): HistorySummary => {
  const row = findHistory(rows, history);
  if (row === undefined) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
  return summaryOf(rows, row);
};

const summaryOf = (rows: RowReader, row: HistoryRow): HistorySummary => {
  const callers = callersIn(rows, row.history);
  return {
    history: row.history,
    name: row.name,
    startedAt: millisecondsOf(row.startedAt),
    updatedAt: millisecondsOf(row.newestAt),
    source: row.source,
    import: importOf(rows, row.history),
    labels: listLabels(rows, row.history),
    frames: row.frames,
    events: row.events,
    cycles: row.snapshots,
    branches: listBranches(rows, row.history).map(({ branchId, name, parent }): BranchSummary => ({
      branch: branchAddressOf(rows, row.history, branchId),
      branchId,
      name,
      parent: parent?.branchId ?? null,
      at: parent?.seq ?? null,
      ...callers(branchId),
    })),
    ...stateOf(rows, row.history),
  };
};

const importOf = (rows: RowReader, history: string): HistoryImport | null => {
  const found = findImport(rows, history);
  if (found === undefined) return null;
  const { format, version, title, summary } = found;
  return { format, ...defined({ version: version ?? undefined, title: title ?? undefined }), ...summary };
};

/**
 * The snapshots on a branch's ancestor path, oldest first; with a page, those before a cycle (or the newest).
 *
 * @param prices what calls cost; null: nobody knows
 */
export const snapshotsOf = (
  rows: RowReader,
  { history, branchId }: BranchRef,
  { before, limit }: { readonly before?: number; readonly limit?: number } = {},
  prices: PriceTable | null = null,
): readonly SnapshotSummary[] => {
  const named = new Map<number, string[]>();
  for (const { name, position } of listNamedPositions(rows, history))
    named.set(position, [...(named.get(position) ?? []), name]);
  const page = {
    ...(before === undefined ? {} : { from: before - 1 }),
    ...defined({ limit }),
  };
  if (before === 0) return [];
  const hasCalls = firstCallRow(rows, history) !== undefined;
  return listSnapshots(rows, history, branchId, readTipSeq(rows, history, branchId), page)
    .map((row): SnapshotSummary => {
      const frameSummary = findFrameSummary(rows, history, row.seq);
      const attempts = hasCalls
        ? listCallsAt(rows, history, row).filter(({ reassignedTo }) => reassignedTo === null)
        : [];
      const newest = attempts.at(-1);
      return {
        label: `@c${row.cycle}`,
        cycle: row.cycle,
        treeHash: toHex(row.treeHash),
        threadHash: toHex(row.threadHash),
        at: millisecondsOf(frameSummary.at),
        nodes: row.nodes,
        blocks: row.blocks,
        turns: row.turns,
        names: named.get(row.seq) ?? [],
        author: authorOf(frameSummary),
        command: frameSummary.command,
        branchId: row.branchId,
        seq: row.seq,
        calls: hasCalls ? attempts.length : null,
        call: newest === undefined ? null : attemptOf(rows, history, newest, prices),
      };
    })
    .reverse();
};

/** The position that a reference names on a branch. @throws E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND, E_BRANCH_NOT_FOUND */
export const positionOf = (rows: RowReader, branchRef: BranchRef, ref: string): Position => {
  const { branch, at } = parseRef(ref);
  const askedBranch = branch === null ? branchRef : findBranchOf(rows, branchRef.history, branch);
  return positionAt(rows, askedBranch, at);
};

/** @throws E_SELECTOR_INVALID for `@*` and ranges, E_SNAPSHOT_NOT_FOUND */
export const positionAt = (
  rows: RowReader,
  { history, branchId }: BranchRef,
  marker: Marker | MarkerRange,
): Position => {
  const found = resolvePosition(rows, history, branchId, positionMarker(marker));
  return positionOfFrame(rows, history, found.branchId, found.seq);
};

/** The marker of one position. @throws E_SELECTOR_INVALID for `@*` and ranges, which are several */
const positionMarker = (marker: Marker | MarkerRange): PositionMarker => {
  switch (marker.kind) {
    case 'working':
    case 't':
    case 'c':
    case 's':
    case 'name':
      return marker;
    case 'all':
    case 'range':
      throw fail('E_SELECTOR_INVALID', 'give one position, not several');
  }
};

/** The tree at a position, without contents. */
export const treeAt = (projection: Projection, position: Position): Promise<TreeAt> =>
  projection.read((rows) => treeIn(rows, position));

const treeIn = (rows: RowReader, position: Position): TreeAt => {
  const { history, branchId, seq } = position;
  return {
    position,
    tree: readFlatTree(rows, history, branchId, seq),
    thread: readBranch(rows, history, branchId).thread,
  };
};

/** The tree at a position with all its payloads in memory. */
export const viewOf = async (projection: Projection, position: Position): Promise<TreeView> => {
  const at = await treeAt(projection, position);
  return withPayloads(
    projection,
    at,
    at.tree.payloads.filter((ref) => ref !== null),
  );
};

/** With more nodes, the whole tree is read: each of them is looked up. */
const MAX_PARTIAL = 512;

/**
 * Some nodes of a position with what they contain, and their payloads in memory: read without the rest of the tree. Depths of turns
 * differ from those in the whole.
 */
export const partialViewOf = async (
  projection: Projection,
  position: Position,
  ids: readonly string[],
): Promise<TreeView> => {
  const { history, branchId, seq } = position;
  const at = await projection.read((rows): TreeAt | undefined => {
    if (ids.length > MAX_PARTIAL) return undefined;
    // Root and regions contain what every location has.
    if (ids.some((id) => readNode(rows, history, branchId, seq, id)?.kind === 'fixed')) return undefined;
    const tree = readPartialTree(rows, history, branchId, seq, { ...NO_DEPTH, ids });
    return { position, tree, thread: readBranch(rows, history, branchId).thread };
  });
  if (at === undefined) return viewOf(projection, position);
  const refs = ids.flatMap((id) => at.tree.payloads[at.tree.indexOf(id) ?? -1] ?? []);
  return withPayloads(projection, at, refs);
};

/**
 * The part of a position that is about one node: what contains it and what it contains, with depths as in the whole, and the node's
 * own payload in memory. Undefined if the position does not have the node.
 */
export const nodeViewOf = async (
  projection: Projection,
  position: Position,
  id: string,
): Promise<TreeView | undefined> => {
  const { history, branchId } = position;
  const at = await projection.read((rows): TreeAt | undefined => {
    const tree = readNodeTree(rows, history, position, id);
    return tree && { position, tree, thread: readBranch(rows, history, branchId).thread };
  });
  if (at === undefined) return undefined;
  const ref = at.tree.payloads[at.tree.indexOf(id) ?? -1] ?? null;
  return withPayloads(projection, at, ref === null ? [] : [ref]);
};

/** No node is wanted for its depth. */
const NO_DEPTH = { minDepth: 1, maxDepth: 0 } as const;

const withPayloads = async (
  projection: Projection,
  { position, tree, thread }: TreeAt,
  refs: readonly EventRef[],
): Promise<TreeView> => {
  const found = await projection.payloads.all(position.history, refs);
  const frames = new Map<number, (Payload | undefined)[]>();
  for (const [i, { seq, index }] of refs.entries()) {
    let frame = frames.get(seq);
    if (frame === undefined) frames.set(seq, (frame = []));
    frame[index] = found[i];
  }
  return { position, tree, thread, payloads: ({ seq, index }) => frames.get(seq)?.[index] ?? {} };
};
