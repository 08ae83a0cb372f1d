import { kindOfType, NODE_KIND, type NodeRecord } from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import type { RowOf, RowReader, ValueOf } from '@stemma/row-store';
import { readAncestorPath } from './ancestor-path.ts';
import { readNode } from './read-node.ts';
import { isTombstone, REGION } from './records.ts';
import { IDS, TURNS, VERSIONS } from './tables.ts';

/** A block from a frame on: this content, until another version or a tombstone of the same id. */
export type BlockVersion = {
  readonly id: string;
  readonly from: number;
  /** Null: from this frame on the block is removed. */
  readonly state: {
    /** Equal for equal contents, different for different ones. */
    readonly payload: number;
    /** True if this frame inserted or replaced it, rather than moved, held or re-ordered it. */
    readonly made: boolean;
    /** The first cycle without it. */
    readonly expires: number | null;
    readonly assistant: boolean;
    readonly refs: readonly string[];
    /** When the prompt shows it with `thread: "pre"`: always, while the turn of this cycle is the newest, or never. */
    readonly pre: 'always' | number | 'never';
  } | null;
};

type Thread = 'full' | 'pre';

/** Columns of a row of `versions`. */
const COLUMNS = { type: 0, seq: 4, index: 5, offset: 6, role: 7, expires: 10, parent: 11, refs: 15 } as const;

/**
 * The changes of blocks in a branch's own frames from `since` on, in the order of the record; a frame that moves a
 * block gives one entry. Reads all rows of the branch, of any age.
 */
export const readBlockVersions = (
  rows: RowReader,
  history: string,
  branchId: number,
  since: number,
  thread: Thread,
): readonly BlockVersion[] => {
  const offsets = thread === 'full' ? null : containerOffsets(rows, history, branchId);
  const found: BlockVersion[] = [];
  const removals = new Map<string, BlockVersion>();
  const rowsOf = [
    ...rows.range(VERSIONS, { prefix: [history, branchId, REGION.turn] }),
    ...rows.range(VERSIONS, { prefix: [history, branchId, REGION.sys] }),
  ];
  for (const row of rowsOf) {
    const from = row.key[5];
    if (from < since) continue;
    const id = row.key[4];
    if (isTombstone(row.value)) removals.set(`${from} ${id}`, { id, from, state: null });
    else if (isBlock(row)) found.push({ id, from, state: contentOf(row, offsets) });
  }
  const sys = rowsOf.filter(({ key }) => key[2] === REGION.sys);
  for (const removal of removedWithSystemHeader(rows, history, branchId, sys, since))
    removals.set(`${removal.from} ${removal.id}`, removal);
  // A frame that moves a node leaves a tombstone at the old location: the row at the new location counts.
  if (removals.size > 0) for (const { from, id } of found) removals.delete(`${from} ${id}`);
  return [...removals.values(), ...found].sort((a, b) => a.from - b.from || eventOrder(a) - eventOrder(b));
};

/** The order of the frame's events; removals come first. */
const eventOrder = ({ state }: BlockVersion): number => (state === null ? -1 : state.payload % EVENTS);

/** More events than a frame can have, so that frame and event fit in one number. */
const EVENTS = 2 ** 20;

const isBlock = ({ value }: RowOf<typeof VERSIONS>): boolean =>
  kindOfType(value[COLUMNS.type] as string) === NODE_KIND.block;

const contentOf = (
  { key, value }: RowOf<typeof VERSIONS>,
  offsets: ReadonlyMap<string, { readonly offset: number; readonly parent: string | null }> | null,
): BlockVersion['state'] => ({
  payload: (value[COLUMNS.seq] as number) * EVENTS + (value[COLUMNS.index] as number),
  made: value[COLUMNS.seq] === key[5],
  expires: value[COLUMNS.expires],
  assistant: value[COLUMNS.role] === 'assistant',
  refs: (value[COLUMNS.refs] ?? []) as readonly string[],
  pre: offsets === null || key[2] === REGION.sys ? 'always' : preOf(key[3], value, offsets),
});

/** With `thread: "pre"` a prompt shows of a turn what lies before its core, directly or in a container there. */
const preOf = (
  location: number,
  value: ValueOf<typeof VERSIONS>,
  offsets: ReadonlyMap<string, { readonly offset: number; readonly parent: string | null }>,
): number | 'never' => {
  let [offset, parent] = [value[COLUMNS.offset] as number, value[COLUMNS.parent]];
  for (let level = 0; parent !== null && level < 512; level++) {
    const container = offsets.get(parent);
    if (container === undefined) break;
    ({ offset, parent } = container);
  }
  return offset < 0 ? location : 'never';
};

const containerOffsets = (rows: RowReader, history: string, branchId: number) => {
  const found = new Map<string, { readonly offset: number; readonly parent: string | null }>();
  for (const segment of readAncestorPath(rows, history, branchId, Number.MAX_SAFE_INTEGER))
    for (const { key, value } of rows.range(VERSIONS, { prefix: [history, segment.branchId, REGION.turn] }))
      if (!isTombstone(value) && !isBlock({ key, value }))
        found.set(key[4], {
          offset: value[COLUMNS.offset] as number,
          parent: value[COLUMNS.parent],
        });
  return found;
};

/** Where a frame rewrote the system header, what it removed has a tombstone in `ids` only. */
const removedWithSystemHeader = function* (
  rows: RowReader,
  history: string,
  branchId: number,
  sys: readonly RowOf<typeof VERSIONS>[],
  since: number,
): Iterable<BlockVersion> {
  if (new Set(sys.map(({ key }) => key[3])).size < 2) return;
  for (const id of new Set(sys.map(({ key }) => key[4])))
    for (const { key, value } of rows.range(IDS, { prefix: [history, id] }))
      if (key[3] === branchId && key[2] >= since && isTombstone(value))
        yield { id, from: key[2], state: null };
};

/** The blocks of a position that have these ids; ids that are not at the position are skipped. */
export const readBlocksAt = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
  ids: readonly string[],
  thread: Thread,
): readonly BlockVersion[] =>
  ids.flatMap((id) => {
    const node = readNode(rows, history, branchId, seq, id);
    if (node?.kind !== 'node') return [];
    const { headers, payload, expires, location } = node.record;
    if (kindOfType(headers.nodeType) !== NODE_KIND.block) return [];
    const isPreContext = thread === 'pre' && topOffset(rows, history, { branchId, seq }, node.record) < 0;
    const pre =
      thread === 'full' || location.kind === 'sys' ? 'always' : isPreContext ? location.cycle : 'never';
    const state = {
      payload: payload.seq * EVENTS + payload.index,
      made: payload.seq === seq,
      expires,
      assistant: headers.role === 'assistant',
      refs: headers.refs ?? [],
      pre,
    } as const;
    return [{ id, from: seq, state }];
  });

/** The offset of the node's ancestor directly under the turn, or its own if it is that. */
const topOffset = (rows: RowReader, history: string, at: BranchPosition, record: NodeRecord): number => {
  const parentNode =
    record.parent === null ? undefined : readNode(rows, history, at.branchId, at.seq, record.parent);
  return parentNode?.kind === 'node'
    ? topOffset(rows, history, at, parentNode.record)
    : record.headers.offset;
};

/** The cycles in which a branch sealed a turn. */
export const turnCycles = (rows: RowReader, history: string, branchId: number): ReadonlySet<number> =>
  new Set(rows.range(TURNS, { prefix: [history, branchId] }).map(({ key }) => key[2]));

/** The cycle of the newest turn at a position; 0 if there is none. */
export const newestTurn = (rows: RowReader, history: string, { branchId, seq }: BranchPosition): number =>
  Math.max(
    0,
    ...readAncestorPath(rows, history, branchId, seq).flatMap((segment) =>
      rows
        .range(TURNS, { prefix: [history, segment.branchId] })
        .filter(({ key }) => key[4] <= segment.limit)
        .map(({ key }) => key[2]),
    ),
  );
