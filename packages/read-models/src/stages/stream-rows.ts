import { fail } from '@stemma/errors';
import type { EventRef } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import type { HashedNode } from './hash-node.ts';
import { hashedOf, nodeOf } from './node-row.ts';
import { chunksOf, countOf, EMPTY, runningOf, takeNodes, type Running } from './running.ts';
import { slotOf } from './stream-node.ts';
import { STAGE_HASHES, STAGE_IDS, STAGE_MARKS, STAGE_NODES, STREAMS } from './tables.ts';

/** A lineage's stream as its row has it. `parent` is the strand whose frames up to `at` come before its own. */
export type Stream = {
  readonly parent: { readonly strand: number; readonly at: number } | null;
  readonly firstChunk: number;
  readonly seq: number;
  readonly running: Running;
};

export const readStream = (rows: RowReader, history: string, strand: number): Stream => {
  const value = rows.get(STREAMS, [history, strand]);
  if (value === undefined) {
    if (strand === 0) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
    throw fail('E_LINEAGE_NOT_FOUND', `the history ${history} has no lineage ${strand}`, {
      history,
      lineage: strand,
    });
  }
  const [parent, at, firstChunk, seq] = value as [number | null, number, number | null, number];
  return {
    parent: parent === null ? null : { strand: parent, at },
    firstChunk: firstChunk ?? 0,
    seq,
    running: runningOf(value, 4),
  };
};

/** The strand whose frame a position means: positions before a lineage's beginning are its ancestors'. */
export const ownerOf = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
): { readonly strand: number; readonly limit: number; readonly stream: Stream } => {
  let [at, limit] = [strand, seq];
  for (;;) {
    const stream = readStream(rows, history, at);
    if (limit >= at || stream.parent === null) return { strand: at, limit, stream };
    limit = Math.min(limit, stream.parent.at);
    at = stream.parent.strand;
  }
};

/** Where the hashes stand at a position, and the strand that brought it there. */
export const runningAt = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
): { readonly strand: number; readonly limit: number; readonly running: Running } => {
  const { strand: owner, limit, stream } = ownerOf(rows, history, strand, seq);
  if (stream.seq <= limit) return { strand: owner, limit, running: stream.running };
  const { from, running } = nearestBelow(rows, history, owner, limit, stream);
  const known = countOf(running);
  const nodes = rows
    .range(STAGE_NODES, { prefix: [history, owner], from, to: limit })
    .map(nodeOf)
    .filter(({ ordinal }) => ordinal >= known)
    .map(hashedOf);
  return { strand: owner, limit, running: takeAllNodes(running, nodes) };
};

const takeAllNodes = (from: Running, nodes: readonly HashedNode[]): Running => {
  let [running, at] = [from, 0];
  while (at < nodes.length) ({ running, next: at } = takeNodes(running, nodes, at));
  return running;
};

/** The newest of a strand's own marks by then; else where the strand began. */
const nearestBelow = (
  rows: RowReader,
  history: string,
  strand: number,
  limit: number,
  { parent }: Stream,
): { readonly from: number; readonly running: Running } => {
  const [mark] = rows.range(STAGE_MARKS, { prefix: [history, strand], to: limit, reverse: true, limit: 1 });
  if (mark !== undefined) return { from: mark.key[2] as number, running: runningOf(mark.value, 0) };
  const running = parent === null ? EMPTY : runningAt(rows, history, parent.strand, parent.at).running;
  return { from: strand, running };
};

/** The cycle of the newest snapshot at a position; 0 while there is none. */
export const cycleAt = (rows: RowReader, history: string, strand: number, seq: number): number => {
  for (let next: { strand: number; at: number } | null = { strand, at: seq }; next !== null;) {
    const owner: ReturnType<typeof ownerOf> = ownerOf(rows, history, next.strand, next.at);
    const [newest] = rows.range(STAGE_HASHES, {
      prefix: [history, owner.strand],
      to: owner.limit,
      reverse: true,
      limit: 1,
    });
    if (newest !== undefined) return newest.value[0] as number;
    next = owner.stream.parent;
  }
  return 0;
};

/** The ids of all messages, as in a JSON list. */
export const messageIds = (rows: RowReader, history: string, strand: number, running: Running): string => {
  const parts: string[] = running.openIds === '' ? [] : [running.openIds];
  let end = chunksOf(running);
  for (let at: number | undefined = strand; end > 0 && at !== undefined;) {
    const { firstChunk, parent }: Stream = readStream(rows, history, at);
    if (end > firstChunk) {
      const own = rows.range(STAGE_IDS, { prefix: [history, at], from: firstChunk, to: end - 1 });
      parts.unshift(...own.map(({ value }) => value[0] as string));
      end = firstChunk;
    }
    at = parent?.strand;
  }
  return parts.join(',');
};

/** The ordinal of the node that an event brought, in the stream of a lineage that has the event on its chain. */
export const ordinalIn = (rows: RowReader, history: string, strand: number, ref: EventRef): number => {
  let at = strand;
  // The frames of a chain lie apart: a strand's own are behind those of its ancestors that count.
  while (ref.seq < at) at = readStream(rows, history, at).parent?.strand ?? 0;
  const row = rows.get(STAGE_NODES, [history, at, ref.seq, slotOf(ref.index)]);
  if (row === undefined)
    throw fail('E_INTERNAL', `no node of the stream is of event ${ref.index} of frame ${ref.seq}`);
  return row[0] as number;
};
