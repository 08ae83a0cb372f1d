import { fromHex, sha256Hex, toHex, type WideJson } from '@stemma/canonical';
import type { AppliedFrame } from '@stemma/history';
import { putRow, type Rows } from '@stemma/row-store';
import { hashNode, type HashedNode } from './hash-node.ts';
import { nodeCells, nodeHashes } from './node-row.ts';
import { projectFrame } from './project-frame.ts';
import type { RunningHashesCache } from './running-hashes-cache.ts';
import { addNodes, emptyRunningHashes, nodeHashOf, type RunningHashes } from './running-hashes.ts';
import { partOfSlot, type ProjectedNode } from './stream-node.ts';
import {
  EMPTY_STREAM,
  hashStream,
  ordinalsIn,
  readStream,
  streamPositionAt,
  streamRows,
  type Stream,
} from './stream-rows.ts';
import { STAGE_NODES, STREAMS } from './tables.ts';

/**
 * Writes the nodes that one frame adds to its branch's stream and, at a snapshot, the hash of the stream. What
 * `cache` has saves reading the stream's rows at a snapshot, and changes no result.
 */
export const openStagesFold =
  (cache: RunningHashesCache) =>
  (frame: AppliedFrame, rows: Rows): void => {
    const { history, branchId, seq, started, snapshot } = frame;
    // Observations belong to no branch (pool: Observations).
    if (frame.observed) return;
    const before = streamBefore(frame, rows);
    const projected = projectFrame(
      frame,
      openCycle(frame, before),
      before.count,
      ordinalsIn(rows, history, branchId),
    );
    if (projected.length === 0 && started === null && snapshot === null) return;
    const nodes = projected.map(hashNode);
    const running = findRunningHashes(frame, before, rows, cache);
    if (running !== undefined) addNodes(running, nodes);
    const snapshotHash = snapshot === null || running === undefined ? null : hashSnapshot(running);
    const cycle = snapshot === null ? before.cycle : frame.state.tree.cycle;
    const chainHash = putNodes(frame, { ...before, cycle }, projected, nodes, snapshotHash, rows);
    const { parent, count } = before;
    putRow(rows, STREAMS, {
      history,
      branch_id: branchId,
      parent: parent?.branchId ?? null,
      at: parent?.at ?? null,
      seq,
      count: count + nodes.length,
      cycle,
      chain_hash: chainHash,
    });
    if (running !== undefined) cache.put(toHex(chainHash), running);
  };

/** What the last row of a snapshot has beside its nodes. */
type SnapshotHash = { readonly nodeHash: string; readonly kinds: readonly number[] };

const hashSnapshot = (running: RunningHashes): SnapshotHash => ({
  nodeHash: nodeHashOf(running),
  kinds: [...running.kindCounts],
});

/**
 * The cycle that is open while the frame is decided. For a frame that only starts a branch no tree is loaded and nothing
 * asks for the cycle: loading takes time in proportion to the tree.
 */
const openCycle = (frame: AppliedFrame, before: Stream): number => {
  const { started, snapshot } = frame;
  if (started !== null && started.how !== 'start') return before.cycle + 1;
  return snapshot === null ? frame.state.tree.open : frame.state.tree.cycle;
};

/** The stream before the frame; one that starts with it continues from the end of its parent's. */
const streamBefore = ({ history, branchId, started }: AppliedFrame, rows: Rows): Stream => {
  if (started === null) return readStream(rows, history, branchId);
  if (started.how === 'start') return { parent: null, seq: 0, ...EMPTY_STREAM };
  const { branchId: owner, limit, ...end } = streamPositionAt(rows, history, started.parent, started.at);
  return { parent: { branchId: owner, at: limit }, seq: branchId, ...end };
};

/** The running hashes before the frame; undefined if they are not in memory and no snapshot needs them. */
const findRunningHashes = (
  { history, branchId, started, snapshot }: AppliedFrame,
  { parent, seq, count, chainHash }: Stream,
  rows: Rows,
  cache: RunningHashesCache,
): RunningHashes | undefined => {
  if (count === 0) return emptyRunningHashes();
  const key = toHex(chainHash);
  // The parent keeps its own.
  const kept = started === null ? cache.take(key) : cache.copy(key);
  if (kept !== undefined || snapshot === null) return kept;
  const source = started === null ? { branchId, at: seq } : (parent ?? { branchId, at: seq });
  return hashStream(streamRows(rows, history, source.branchId, source.at));
};

/** Writes the nodes, and returns the chain hash after them. A snapshot has a row, if without nodes. */
const putNodes = (
  { history, branchId, seq }: AppliedFrame,
  { count, cycle, chainHash: hashBefore }: Stream,
  projected: readonly ProjectedNode[],
  hashed: readonly HashedNode[],
  snapshotHash: SnapshotHash | null,
  rows: Rows,
): Uint8Array => {
  if (projected.length === 0 && snapshotHash === null) return hashBefore;
  let chainHash = toHex(hashBefore);
  let from = 0;
  do {
    const part = partOfSlot(projected[from]?.slot ?? 0);
    const nodes: (readonly WideJson[])[] = [];
    let [digests, hashes] = ['', ''];
    let end = from;
    for (; end < projected.length; end++) {
      const node = projected[end] as ProjectedNode;
      if (partOfSlot(node.slot) !== part) break;
      const hash = hashed[end] as HashedNode;
      nodes.push(nodeCells(node, hash));
      digests += hash.digest;
      hashes += nodeHashes(hash);
    }
    const last = end === projected.length ? snapshotHash : null;
    chainHash = last?.nodeHash ?? sha256Hex(chainHash + digests);
    putRow(rows, STAGE_NODES, {
      history,
      branch_id: branchId,
      seq,
      part,
      ordinal: count + from,
      cycle,
      hashes: fromHex(chainHash + hashes),
      nodes,
      kinds: last?.kinds ?? null,
    });
    from = end;
  } while (from < projected.length);
  return fromHex(chainHash);
};
