import { fromHex } from '@stemma/canonical';
import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { describeNode, streamStageHashes } from '@stemma/stages';
import { nodeCells } from './node-row.ts';
import { projectFrame } from './project-frame.ts';
import { chunksOf, EMPTY, PROFILE, runningCells, type Running } from './running.ts';
import { messageIds, ordinalIn, readStream, runningAt, type Stream } from './stream-rows.ts';
import { STAGE_HASHES, STAGE_IDS, STAGE_NODES, STREAMS } from './tables.ts';
import { takeNodes } from './take-nodes.ts';

/** Writes the nodes that one frame adds to its lineage's stream and, at a snapshot, the hashes of its stages. */
export const foldStages = (frame: AppliedFrame, rows: Rows): void => {
  const { history, lineage: strand, seq } = frame;
  // Who only looked is told beside every lineage (pool: Observations).
  if (frame.events.every(({ type }) => type === 'ObservationRecorded')) return;
  const before = streamBefore(frame, rows);
  const { count } = before.running.stream;
  const projected = projectFrame(frame, count, (ref) => ordinalIn(rows, history, strand, ref));
  if (projected.length === 0 && frame.started === null && frame.snapshot === null) return;
  const nodes = projected.map((node, i) => describeNode(PROFILE, { ...node, id: null }, count + i));
  projected.forEach((node, i) => {
    const facts = nodes[i];
    if (facts !== undefined)
      rows.put(STAGE_NODES, [history, strand, seq, node.slot], nodeCells(count + i, node, facts));
  });
  const running = takeNodes(before.running, nodes, (chunk, ids) =>
    rows.put(STAGE_IDS, [history, strand, chunk], [ids]),
  );
  const { parent, firstChunk } = before;
  rows.put(
    STREAMS,
    [history, strand],
    [parent?.strand ?? null, parent?.at ?? null, firstChunk, seq, ...runningCells(running)],
  );
  if (frame.snapshot !== null) writeHashes(frame, running, rows);
};

/** The stream as the frame finds it; one that starts here goes on from where its parent stood. */
const streamBefore = ({ history, lineage, started }: AppliedFrame, rows: Rows): Stream => {
  if (started === null) return readStream(rows, history, lineage);
  if (started.how === 'start') return { parent: null, firstChunk: 0, seq: 0, running: EMPTY };
  const { strand, limit, running } = runningAt(rows, history, started.parent, started.at);
  return { parent: { strand, at: limit }, firstChunk: chunksOf(running), seq: lineage, running };
};

const writeHashes = ({ history, lineage, seq, state }: AppliedFrame, running: Running, rows: Rows): void => {
  const ids = messageIds(rows, history, lineage, running);
  const { node_hash, z1, z2, z3 } = streamStageHashes(PROFILE, running.stream, ids);
  rows.put(
    STAGE_HASHES,
    [history, lineage, seq],
    [state.tree.cycle, ...[node_hash, z1, z2, z3].map(fromHex), ...runningCells(running)],
  );
};
