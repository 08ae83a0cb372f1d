import { fail } from '@stemma/errors';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { rowNodes } from './node-row.ts';
import type { OrdinalOf } from './project-frame.ts';
import { addNodes, emptyRunningHashes, type RunningHashes } from './running-hashes.ts';
import { partOfSlot, slotOf } from './stream-node.ts';
import { STAGE_NODES, STREAMS } from './tables.ts';

/** The end of a stream: the number of its nodes, the cycle of its newest snapshot (0: none), and the chain hash (see `tables.ts`). */
export type StreamPosition = {
  readonly count: number;
  readonly cycle: number;
  readonly chainHash: Uint8Array;
};

/** The stream of a branch, from its row. `parent` is the branch whose frames up to `at` come before its own. */
export type Stream = StreamPosition & {
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  readonly seq: number;
};

/** The end of a stream without nodes. */
export const EMPTY_STREAM: StreamPosition = { count: 0, cycle: 0, chainHash: new Uint8Array(32) };

export const readStream = (rows: RowReader, history: string, branchId: number): Stream => {
  const row = findRow(rows, STREAMS, { history, branch_id: branchId });
  if (row === undefined) {
    if (branchId === 0) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
    throw fail('E_BRANCH_NOT_FOUND', `the history ${history} has no branch ${branchId}`, {
      history,
      branchId,
    });
  }
  const { parent, at, seq, count, cycle, chain_hash: chainHash } = row;
  return {
    parent: parent === null ? null : { branchId: parent, at: at as number },
    seq,
    count,
    cycle,
    chainHash,
  };
};

/** The branch that wrote the frame of a position: an ancestor, if the position is before the branch starts. */
export const findOwner = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): { readonly branchId: number; readonly limit: number; readonly stream: Stream } => {
  let [at, limit] = [branchId, seq];
  for (;;) {
    const stream = readStream(rows, history, at);
    if (limit >= at || stream.parent === null) return { branchId: at, limit, stream };
    limit = Math.min(limit, stream.parent.at);
    at = stream.parent.branchId;
  }
};

/** The end of the stream at a position, and the branch that wrote it. */
export const streamPositionAt = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): StreamPosition & { readonly branchId: number; readonly limit: number } => {
  const { branchId: owner, limit, stream } = findOwner(rows, history, branchId, seq);
  const at = { branchId: owner, limit };
  if (stream.seq <= limit)
    return { ...at, count: stream.count, cycle: stream.cycle, chainHash: stream.chainHash };
  const newest = { to: limit, reverse: true, limit: 1 };
  const [last] = listRows(rows, STAGE_NODES, { history, branch_id: owner }, newest);
  if (last !== undefined) {
    const { length } = last.nodes as readonly unknown[];
    const { ordinal, cycle, hashes } = last;
    return { ...at, count: ordinal + length, cycle, chainHash: hashes.subarray(0, 32) };
  }
  if (stream.parent === null) return { ...at, ...EMPTY_STREAM };
  const end = streamPositionAt(rows, history, stream.parent.branchId, stream.parent.at);
  return { ...at, count: end.count, cycle: end.cycle, chainHash: end.chainHash };
};

/** The rows of a position's nodes, in order: those of its ancestors up to where it branches off, then its own. */
export const streamRows = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): readonly NamedRow<typeof STAGE_NODES>[] => {
  const runs: (readonly NamedRow<typeof STAGE_NODES>[])[] = [];
  for (let next: { branchId: number; at: number } | null = { branchId, at: seq }; next !== null;) {
    const owner: ReturnType<typeof findOwner> = findOwner(rows, history, next.branchId, next.at);
    runs.push(listRows(rows, STAGE_NODES, { history, branch_id: owner.branchId }, { to: owner.limit }));
    next = owner.stream.parent;
  }
  return runs.reverse().flat();
};

/** The running hashes of a stream, computed from all of its rows. */
export const hashStream = (rows: readonly NamedRow<typeof STAGE_NODES>[]): RunningHashes => {
  const running = emptyRunningHashes();
  for (const row of rows)
    addNodes(
      running,
      rowNodes(row).map(({ hashed }) => hashed),
    );
  return running;
};

/** The ordinal of the node that an event inserted, in the stream of a branch with the event on its ancestor path. */
export const ordinalsIn = (rows: RowReader, history: string, branchId: number): OrdinalOf => {
  /** The first ordinal and the slots of the rows that were read. */
  const parts = new Map<string, { readonly first: number; readonly slots: readonly number[] }>();
  const partOf = (seq: number, part: number): { first: number; slots: readonly number[] } => {
    let at = branchId;
    // The frames of an ancestor path do not overlap: a branch's own come after those of its ancestors on the path.
    while (seq < at) at = readStream(rows, history, at).parent?.branchId ?? 0;
    const row = findRow(rows, STAGE_NODES, { history, branch_id: at, seq, part });
    const lists = (row?.nodes ?? []) as readonly (readonly number[])[];
    return { first: row?.ordinal ?? 0, slots: lists.map(([slot]) => slot as number) };
  };
  return ({ seq, index }) => {
    const slot = slotOf(index);
    const key = `${seq} ${partOfSlot(slot)}`;
    let found = parts.get(key);
    if (found === undefined) parts.set(key, (found = partOf(seq, partOfSlot(slot))));
    const slotIndex = found.slots.indexOf(slot);
    if (slotIndex === -1)
      throw fail('E_INTERNAL', `no node of the stream is of event ${index} of frame ${seq}`);
    return found.first + slotIndex;
  };
};
