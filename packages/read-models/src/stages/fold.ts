import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { hashNode, type HashedNode } from './hash-node.ts';
import { nodeCells } from './node-row.ts';
import { projectFrame } from './project-frame.ts';
import {
  chunksOf,
  countOf,
  EMPTY,
  hashesOf,
  marksIn,
  runningCells,
  takeNodes,
  type Running,
} from './running.ts';
import { cycleAt, messageIds, ordinalIn, readStream, runningAt, type Stream } from './stream-rows.ts';
import { STAGE_HASHES, STAGE_IDS, STAGE_MARKS, STAGE_NODES, STREAMS } from './tables.ts';

/** Writes the nodes that one frame adds to its lineage's stream and, at a snapshot, the hashes of its stages. */
export const foldStages = (frame: AppliedFrame, rows: Rows): void => {
  const { history, lineage: strand, seq } = frame;
  // Who only looked is told beside every lineage (pool: Observations).
  if (frame.events.every(({ type }) => type === 'ObservationRecorded')) return;
  const { parent, firstChunk, running: before } = streamBefore(frame, rows);
  const count = countOf(before);
  const open = openCycle(frame, rows);
  const projected = projectFrame(frame, open, count, (ref) => ordinalIn(rows, history, strand, ref));
  if (projected.length === 0 && frame.started === null && frame.snapshot === null) return;
  const nodes = projected.map(hashNode);
  for (let i = 0; i < nodes.length; i++) {
    const node = projected[i];
    const hashed = nodes[i];
    if (node !== undefined && hashed !== undefined)
      rows.put(STAGE_NODES, [history, strand, seq, node.slot], nodeCells(count + i, node, hashed));
  }
  const running = takeAll(frame, before, nodes, rows);
  rows.put(
    STREAMS,
    [history, strand],
    [parent?.strand ?? null, parent?.at ?? null, firstChunk, seq, ...runningCells(running)],
  );
  if (marksIn(running) > marksIn(before))
    rows.put(STAGE_MARKS, [history, strand, seq], runningCells(running));
  if (frame.snapshot === null) return;
  const { nodeHash, z1, z2, z3 } = hashesOf(running, messageIds(rows, history, strand, running));
  rows.put(STAGE_HASHES, [history, strand, seq], [frame.state.tree.cycle, nodeHash, z1, z2, z3]);
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
  if (started.how === 'start') return { parent: null, firstChunk: 0, seq: 0, running: EMPTY };
  const { strand, limit, running } = runningAt(rows, history, started.parent, started.at);
  return { parent: { strand, at: limit }, firstChunk: chunksOf(running), seq: lineage, running };
};

/** Takes the nodes into the running hashes, and writes the chunks of ids that they fill. */
const takeAll = (
  { history, lineage, seq }: AppliedFrame,
  before: Running,
  nodes: readonly HashedNode[],
  rows: Rows,
): Running => {
  let running = before;
  for (let at = 0; at < nodes.length;) {
    const taken = takeNodes(running, nodes, at);
    ({ running, next: at } = taken);
    if (taken.filled !== null)
      rows.put(STAGE_IDS, [history, lineage, chunksOf(running) - 1], [taken.filled, seq]);
  }
  return running;
};
