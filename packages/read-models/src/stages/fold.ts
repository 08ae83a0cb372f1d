import { fromHex, sha256Hex, toHex, type WideJson } from '@stemma/canonical';
import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { hashNode, type HashedNode } from './hash-node.ts';
import { hashesOf } from './hash-stages.ts';
import type { KeptStates } from './kept-states.ts';
import { nodeCells, nodeHashes } from './node-row.ts';
import { projectFrame } from './project-frame.ts';
import { startRunning, takeNodes, type Running } from './running.ts';
import { partOfSlot, type ProjectedNode } from './stream-node.ts';
import { AT_START, cycleAt, ordinalsIn, readStream, runningOf, standingAt, streamRows, type Stream } from './stream-rows.ts';
import { STAGE_HASHES, STAGE_NODES, STREAMS } from './tables.ts';

/**
 * Writes the nodes that one frame adds to its lineage's stream and, at a snapshot, the hashes of its stages. What
 * `states` keeps spares reading the stream's rows at a snapshot, and changes nothing else.
 */
export const stagesFold =
  (states: KeptStates) =>
  (frame: AppliedFrame, rows: Rows): void => {
    const { history, lineage: strand, seq, started, snapshot } = frame;
    // Who only looked is told beside every lineage (pool: Observations).
    if (frame.observed) return;
    const before = streamBefore(frame, rows);
    const projected = projectFrame(
      frame,
      openCycle(frame, rows),
      before.count,
      ordinalsIn(rows, history, strand),
    );
    if (projected.length === 0 && started === null && snapshot === null) return;
    const nodes = projected.map(hashNode);
    const running = runningBefore(frame, before, rows, states);
    const chain = putNodes(frame, before, projected, nodes, rows);
    const { parent, count } = before;
    rows.put(
      STREAMS,
      [history, strand],
      [parent?.strand ?? null, parent?.at ?? null, seq, count + nodes.length, chain],
    );
    if (running === undefined) return;
    takeNodes(running, nodes);
    if (snapshot !== null) {
      const { nodeHash, z1, z2, z3 } = hashesOf(running);
      const hashes = fromHex(nodeHash + z1 + z2 + z3);
      const cells = [0, 1, 2, 3].map((i) => hashes.subarray(i * 32, i * 32 + 32));
      rows.put(STAGE_HASHES, [history, strand, seq], [frame.state.tree.cycle, ...cells]);
    }
    states.keep(toHex(chain), running);
  };

/**
 * The cycle that is open while the frame is decided. A lineage that only starts has its tree not at hand, and nothing asks
 * for it: that would cost what the tree is large.
 */
const openCycle = (frame: AppliedFrame, rows: Rows): number => {
  const { history, started, snapshot } = frame;
  if (started !== null && started.how !== 'start')
    return cycleAt(rows, history, started.parent, started.at) + 1;
  return snapshot === null ? frame.state.tree.open : frame.state.tree.cycle;
};

/** The stream as the frame finds it; one that starts here goes on from where its parent stood. */
const streamBefore = ({ history, lineage, started }: AppliedFrame, rows: Rows): Stream => {
  if (started === null) return readStream(rows, history, lineage);
  if (started.how === 'start') return { parent: null, seq: 0, ...AT_START };
  const { strand, limit, count, chain } = standingAt(rows, history, started.parent, started.at);
  return { parent: { strand, at: limit }, seq: lineage, count, chain };
};

/** The running hashes that the frame goes on from; undefined where they are not at hand and none are due. */
const runningBefore = (
  { history, lineage, started, snapshot }: AppliedFrame,
  { parent, seq, count, chain }: Stream,
  rows: Rows,
  states: KeptStates,
): Running | undefined => {
  if (count === 0) return startRunning();
  const key = toHex(chain);
  // The parent goes on from its own.
  const kept = started === null ? states.take(key) : states.copy(key);
  if (kept !== undefined || snapshot === null) return kept;
  const of = started === null ? { strand: lineage, at: seq } : (parent ?? { strand: lineage, at: seq });
  return runningOf(streamRows(rows, history, of.strand, of.at));
};

/** Writes the nodes, and gives the chain behind them. */
const putNodes = (
  { history, lineage, seq }: AppliedFrame,
  before: Stream,
  projected: readonly ProjectedNode[],
  hashed: readonly HashedNode[],
  rows: Rows,
): Uint8Array => {
  let { chain } = before;
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
    const hashes = fromHex(sha256Hex(toHex(chain) + hex) + hex);
    rows.put(STAGE_NODES, [history, lineage, seq, part], [before.count + from, hashes, nodes]);
    chain = hashes.subarray(0, 32);
    from = end;
  }
  return chain;
};
