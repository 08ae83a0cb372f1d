import { fail } from '@stemma/errors';
import type { EventRef } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import { nodeOf } from './node-row.ts';
import { chunksOf, EMPTY, runningOf, type Running } from './running.ts';
import { slotOf } from './stream-node.ts';
import { takeNodes } from './take-nodes.ts';
import { STAGE_HASHES, STAGE_IDS, STAGE_NODES, STREAMS } from './tables.ts';

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
  const owner = ownerOf(rows, history, strand, seq);
  const { limit, stream } = owner;
  const found = (running: Running) => ({ strand: owner.strand, limit, running });
  if (stream.seq <= limit) return found(stream.running);
  const exact = rows.get(STAGE_HASHES, [history, owner.strand, limit]);
  if (exact !== undefined) return found(runningOf(exact, 5));
  const [before] = rows.range(STAGE_HASHES, {
    prefix: [history, owner.strand],
    to: limit,
    reverse: true,
    limit: 1,
  });
  const from = before === undefined ? owner.strand : (before.key[2] as number) + 1;
  const known =
    before !== undefined
      ? runningOf(before.value, 5)
      : stream.parent === null
        ? null
        : runningAt(rows, history, stream.parent.strand, stream.parent.at).running;
  const nodes = rows
    .range(STAGE_NODES, { prefix: [history, owner.strand], from, to: limit })
    .map((row) => nodeOf(row).facts);
  // The chunks that these nodes fill were written when they came.
  return found(takeNodes(known ?? EMPTY, nodes, () => undefined));
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
