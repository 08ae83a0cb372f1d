import { fail } from '@stemma/errors';
import type { Row, RowReader } from '@stemma/row-store';
import { rowNodes } from './node-row.ts';
import { startRunning, takeNodes, type Running } from './running.ts';
import type { OrdinalOf } from './project-frame.ts';
import { partOfSlot, slotOf } from './stream-node.ts';
import { STAGE_HASHES, STAGE_NODES, STREAMS } from './tables.ts';

/** Where a stream stands: how many nodes there are, and the chain of their hashes (see `tables.ts`). */
export type Standing = { readonly count: number; readonly chain: Uint8Array };

/** A lineage's stream as its row has it. `parent` is the strand whose frames up to `at` come before its own. */
export type Stream = Standing & {
  readonly parent: { readonly strand: number; readonly at: number } | null;
  readonly seq: number;
};

/** Where a stream without nodes stands. */
export const AT_START: Standing = { count: 0, chain: new Uint8Array(32) };

export const readStream = (rows: RowReader, history: string, strand: number): Stream => {
  const value = rows.get(STREAMS, [history, strand]);
  if (value === undefined) {
    if (strand === 0) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
    throw fail('E_LINEAGE_NOT_FOUND', `the history ${history} has no lineage ${strand}`, {
      history,
      lineage: strand,
    });
  }
  const [parent, at, seq, count, chain] = value as [number | null, number, number, number, Uint8Array];
  return { parent: parent === null ? null : { strand: parent, at }, seq, count, chain };
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

/** Where the stream stood at a position, and the strand that brought it there. */
export const standingAt = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
): Standing & { readonly strand: number; readonly limit: number } => {
  const { strand: owner, limit, stream } = ownerOf(rows, history, strand, seq);
  if (stream.seq <= limit) return { strand: owner, limit, count: stream.count, chain: stream.chain };
  const [last] = rows.range(STAGE_NODES, { prefix: [history, owner], to: limit, reverse: true, limit: 1 });
  if (last !== undefined) {
    const [ordinal, hashes, nodes] = last.value as readonly [number, Uint8Array, readonly unknown[]];
    return { strand: owner, limit, count: ordinal + nodes.length, chain: hashes.subarray(0, 32) };
  }
  if (stream.parent === null) return { strand: owner, limit, ...AT_START };
  const { count, chain } = standingAt(rows, history, stream.parent.strand, stream.parent.at);
  return { strand: owner, limit, count, chain };
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

/** The rows of a position's nodes, in order: those of its ancestors up to where it left them, then its own. */
export const streamRows = (rows: RowReader, history: string, strand: number, seq: number): readonly Row[] => {
  const stretches: (readonly Row[])[] = [];
  for (let next: { strand: number; at: number } | null = { strand, at: seq }; next !== null;) {
    const owner: ReturnType<typeof ownerOf> = ownerOf(rows, history, next.strand, next.at);
    stretches.push(rows.range(STAGE_NODES, { prefix: [history, owner.strand], to: owner.limit }));
    next = owner.stream.parent;
  }
  return stretches.reverse().flat();
};

/** What the rows of a stream come to: costs all of them. */
export const runningOf = (rows: readonly Row[]): Running => {
  const running = startRunning();
  for (const { value } of rows)
    takeNodes(
      running,
      rowNodes(value).map(({ hashed }) => hashed),
    );
  return running;
};

/** The ordinal of the node that an event brought, in the stream of a lineage that has the event on its chain. */
export const ordinalsIn = (rows: RowReader, history: string, strand: number): OrdinalOf => {
  /** The first ordinal and the slots of the rows that were read. */
  const parts = new Map<string, { readonly first: number; readonly slots: readonly number[] }>();
  const partOf = (seq: number, part: number): { first: number; slots: readonly number[] } => {
    let at = strand;
    // The frames of a chain lie apart: a strand's own are behind those of its ancestors that count.
    while (seq < at) at = readStream(rows, history, at).parent?.strand ?? 0;
    const value = rows.get(STAGE_NODES, [history, at, seq, part]);
    const lists = (value?.[2] ?? []) as readonly (readonly number[])[];
    return { first: (value?.[0] ?? 0) as number, slots: lists.map(([slot]) => slot as number) };
  };
  return ({ seq, index }) => {
    const slot = slotOf(index);
    const key = `${seq} ${partOfSlot(slot)}`;
    let found = parts.get(key);
    if (found === undefined) parts.set(key, (found = partOf(seq, partOfSlot(slot))));
    const place = found.slots.indexOf(slot);
    if (place === -1) throw fail('E_INTERNAL', `no node of the stream is of event ${index} of frame ${seq}`);
    return found.first + place;
  };
};
