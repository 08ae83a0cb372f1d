import { kindOfType, NODE_KIND, type NodeRecord } from '@stemma/context-tree';
import type { Row, RowReader } from '@stemma/row-store';
import { readChain } from './chain.ts';
import { readNode } from './read-node.ts';
import { isTombstone, REGION } from './records.ts';
import { IDS, TURNS, VERSIONS } from './tables.ts';

/** A block from a frame on: this content, until another version or a tombstone of the same id. */
export type BlockVersion = {
  readonly id: string;
  readonly from: number;
  /** Null: from this frame on it is not there. */
  readonly there: {
    /** Tells one content from another. */
    readonly payload: number;
    /** True if this frame made it: it came or was replaced, not moved, held or re-ordered. */
    readonly made: boolean;
    /** The first cycle without it. */
    readonly expires: number | null;
    readonly assistant: boolean;
    readonly refs: readonly string[];
    /** Where the prompt has it with `thread: "pre"`: always, with the turn of this cycle as the newest, or never. */
    readonly pre: 'always' | number | 'never';
  } | null;
};

type Thread = 'full' | 'pre';

/** Columns of a row of `versions`. */
const COLUMN = { type: 0, seq: 4, index: 5, offset: 6, role: 7, expires: 10, parent: 11, refs: 15 } as const;

/**
 * What became of blocks in a strand's own frames from `since` on, in the order of the record; a frame that moves a block
 * tells of it once. Costs the strand's rows, of any age.
 */
export const readBlockVersions = (
  rows: RowReader,
  history: string,
  strand: number,
  since: number,
  thread: Thread,
): readonly BlockVersion[] => {
  const offsets = thread === 'full' ? null : containerOffsets(rows, history, strand);
  const found: BlockVersion[] = [];
  const gone = new Map<string, BlockVersion>();
  const rowsOf = [
    ...rows.range(VERSIONS, { prefix: [history, strand, REGION.turn] }),
    ...rows.range(VERSIONS, { prefix: [history, strand, REGION.sys] }),
  ];
  for (const row of rowsOf) {
    const from = row.key[5] as number;
    if (from < since) continue;
    const id = row.key[4] as string;
    if (isTombstone(row.value)) gone.set(`${from} ${id}`, { id, from, there: null });
    else if (isBlock(row)) found.push({ id, from, there: contentOf(row, offsets) });
  }
  const sys = rowsOf.filter(({ key }) => key[2] === REGION.sys);
  for (const one of leftBehind(rows, history, strand, sys, since)) gone.set(`${one.from} ${one.id}`, one);
  // What a frame moves leaves a tombstone where it was: the row at the new place counts.
  if (gone.size > 0) for (const { from, id } of found) gone.delete(`${from} ${id}`);
  return [...gone.values(), ...found].sort((a, b) => a.from - b.from || eventOf(a) - eventOf(b));
};

/** In the order in which the frame brought them; what went comes first. */
const eventOf = ({ there }: BlockVersion): number => (there === null ? -1 : there.payload % EVENTS);

/** More events than a frame can have: an event as one number. */
const EVENTS = 2 ** 20;

const isBlock = ({ value }: Row): boolean => kindOfType(value[COLUMN.type] as string) === NODE_KIND.block;

const contentOf = (
  { key, value }: Row,
  offsets: ReadonlyMap<string, { readonly offset: number; readonly parent: string | null }> | null,
): BlockVersion['there'] => ({
  payload: (value[COLUMN.seq] as number) * EVENTS + (value[COLUMN.index] as number),
  made: value[COLUMN.seq] === key[5],
  expires: value[COLUMN.expires] as number | null,
  assistant: value[COLUMN.role] === 'assistant',
  refs: (value[COLUMN.refs] ?? []) as readonly string[],
  pre: offsets === null || key[2] === REGION.sys ? 'always' : preOf(key[3] as number, value, offsets),
});

/** With `thread: "pre"` a prompt has of a turn what lies before its core: itself, or in a container there. */
const preOf = (
  place: number,
  value: Row['value'],
  offsets: ReadonlyMap<string, { readonly offset: number; readonly parent: string | null }>,
): number | 'never' => {
  let [offset, parent] = [value[COLUMN.offset] as number, value[COLUMN.parent] as string | null];
  for (let level = 0; parent !== null && level < 512; level++) {
    const container = offsets.get(parent);
    if (container === undefined) break;
    ({ offset, parent } = container);
  }
  return offset < 0 ? place : 'never';
};

const containerOffsets = (rows: RowReader, history: string, strand: number) => {
  const found = new Map<string, { readonly offset: number; readonly parent: string | null }>();
  for (const link of readChain(rows, history, strand, Number.MAX_SAFE_INTEGER))
    for (const { key, value } of rows.range(VERSIONS, { prefix: [history, link.strand, REGION.turn] }))
      if (!isTombstone(value) && !isBlock({ key, value }))
        found.set(key[4] as string, {
          offset: value[COLUMN.offset] as number,
          parent: value[COLUMN.parent] as string | null,
        });
  return found;
};

/** Where the system header was written anew, what went in the same frame has a tombstone among the ids only. */
const leftBehind = function* (
  rows: RowReader,
  history: string,
  strand: number,
  sys: readonly Row[],
  since: number,
): Iterable<BlockVersion> {
  if (new Set(sys.map(({ key }) => key[3])).size < 2) return;
  for (const id of new Set(sys.map(({ key }) => key[4] as string)))
    for (const { key, value } of rows.range(IDS, { prefix: [history, id] }))
      if (key[3] === strand && (key[2] as number) >= since && isTombstone(value))
        yield { id, from: key[2] as number, there: null };
};

/** Blocks as they are at a position; those that are not there are left out. */
export const readBlocksAt = (
  rows: RowReader,
  history: string,
  { strand, seq }: { readonly strand: number; readonly seq: number },
  ids: readonly string[],
  thread: Thread,
): readonly BlockVersion[] =>
  ids.flatMap((id) => {
    const node = readNode(rows, history, strand, seq, id);
    if (node?.kind !== 'node') return [];
    const { headers, payload, expires, place } = node.record;
    if (kindOfType(headers.nodeType) !== NODE_KIND.block) return [];
    const before = thread === 'pre' && topOffset(rows, history, { strand, seq }, node.record) < 0;
    const pre = thread === 'full' || place.kind === 'sys' ? 'always' : before ? place.cycle : 'never';
    const there = {
      payload: payload.seq * EVENTS + payload.index,
      made: payload.seq === seq,
      expires,
      assistant: headers.role === 'assistant',
      refs: headers.refs ?? [],
      pre,
    } as const;
    return [{ id, from: seq, there }];
  });

/** The offset of what a node lies in directly under its turn, or its own. */
const topOffset = (
  rows: RowReader,
  history: string,
  at: { readonly strand: number; readonly seq: number },
  record: NodeRecord,
): number => {
  const above =
    record.parent === null ? undefined : readNode(rows, history, at.strand, at.seq, record.parent);
  return above?.kind === 'node' ? topOffset(rows, history, at, above.record) : record.headers.offset;
};

/** The cycles in which a strand sealed a turn. */
export const turnCycles = (rows: RowReader, history: string, strand: number): ReadonlySet<number> =>
  new Set(rows.range(TURNS, { prefix: [history, strand] }).map(({ key }) => key[2] as number));

/** The cycle of the newest turn at a position; 0: there is none. */
export const newestTurn = (
  rows: RowReader,
  history: string,
  { strand, seq }: { readonly strand: number; readonly seq: number },
): number =>
  Math.max(
    0,
    ...readChain(rows, history, strand, seq).flatMap((link) =>
      rows
        .range(TURNS, { prefix: [history, link.strand] })
        .filter(({ key }) => (key[4] as number) <= link.limit)
        .map(({ key }) => key[2] as number),
    ),
  );
