import { fromHex, sha256Hex, toHex, type WideJson } from '@stemma/canonical';
import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { hashNode, type HashedNode } from './hash-node.ts';
import { hashesOf } from './hash-stages.ts';
import { nodeCells, nodeHashes } from './node-row.ts';
import { projectFrame } from './project-frame.ts';
import type { RunningHashesCache } from './running-hashes-cache.ts';
import { addNodes, emptyRunningHashes, type RunningHashes } from './running-hashes.ts';
import { partOfSlot, type ProjectedNode } from './stream-node.ts';
import {
  cycleAt,
  EMPTY_STREAM,
  hashStream,
  ordinalsIn,
  readStream,
  streamPositionAt,
  streamRows,
  type Stream,
} from './stream-rows.ts';
import { STAGE_HASHES, STAGE_NODES, STREAMS } from './tables.ts';

/**
 * Writes the nodes that one frame adds to its branch's stream and, at a snapshot, the hashes of its stages. What
 * `states` caches saves reading the stream's rows at a snapshot, and changes no result.
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
      openCycle(frame, rows),
      before.count,
      ordinalsIn(rows, history, branchId),
    );
    if (projected.length === 0 && started === null && snapshot === null) return;
    const nodes = projected.map(hashNode);
    const running = findRunningHashes(frame, before, rows, cache);
    const chainHash = putNodes(frame, before, projected, nodes, rows);
    const { parent, count } = before;
    rows.put(
      STREAMS,
      [history, branchId],
      [parent?.branchId ?? null, parent?.at ?? null, seq, count + nodes.length, chainHash],
    );
    if (running === undefined) return;
    addNodes(running, nodes);
    if (snapshot !== null) {
      const { nodeHash, z1 } = hashesOf(running);
      rows.put(
        STAGE_HASHES,
        [history, branchId, seq],
        [frame.state.tree.cycle, fromHex(nodeHash), fromHex(z1)],
      );
    }
    cache.put(toHex(chainHash), running);
  };

/**
 * The cycle that is open while the frame is decided. For a frame that only starts a branch no tree is loaded and nothing
 * asks for the cycle: loading takes time in proportion to the tree.
 */
const openCycle = (frame: AppliedFrame, rows: Rows): number => {
  const { history, started, snapshot } = frame;
  if (started !== null && started.how !== 'start')
    return cycleAt(rows, history, started.parent, started.at) + 1;
  return snapshot === null ? frame.state.tree.open : frame.state.tree.cycle;
};

/** The stream before the frame; one that starts with it continues from the end of its parent's. */
const streamBefore = ({ history, branchId, started }: AppliedFrame, rows: Rows): Stream => {
  if (started === null) return readStream(rows, history, branchId);
  if (started.how === 'start') return { parent: null, seq: 0, ...EMPTY_STREAM };
  const {
    branchId: ownerId,
    limit,
    count,
    chainHash,
  } = streamPositionAt(rows, history, started.parent, started.at);
  return { parent: { branchId: ownerId, at: limit }, seq: branchId, count, chainHash };
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

/** Writes the nodes, and returns the end of the stream after them. */
const putNodes = (
  { history, branchId, seq }: AppliedFrame,
  before: Stream,
  projected: readonly ProjectedNode[],
  hashed: readonly HashedNode[],
  rows: Rows,
): Uint8Array => {
  let { chainHash } = before;
  for (let from = 0; from < projected.length;) {
    const part = partOfSlot((projected[from] as ProjectedNode).slot);
    const nodes: (readonly WideJson[])[] = [];
    let hex = '';
    let end = from;
    for (; end < projected.length; end++) {
      const node = projected[end] as ProjectedNode;
      if (partOfSlot(node.slot) !== part) break;
      nodes.push(nodeCells(node, hashed[end] as HashedNode));
      hex += nodeHashes(hashed[end] as HashedNode);
    }
    const hashes = fromHex(sha256Hex(toHex(chainHash) + hex) + hex);
    rows.put(STAGE_NODES, [history, branchId, seq, part], [before.count + from, hashes, nodes]);
    chainHash = hashes.subarray(0, 32);
    from = end;
  }
  return chainHash;
};
