import type { WideJson } from '@stemma/canonical';
import type { EventRef, FixedRecord, Headers, NodeRecord, TurnRecord } from '@stemma/context-tree';
import type { ValueOf } from '@stemma/row-store';
import type { IDS, TURNS, VERSIONS } from './tables.ts';

/** Values of the column `region`. */
export const REGION = { sys: 0, turn: 1, fixed: 2, turnItself: 3 } as const;

/** The cells of a node's headers, and of a turn, whose id comes before them. */
export type NodeCells = ValueOf<typeof VERSIONS>;
export type TurnCells = ValueOf<typeof TURNS>;
type Cells = NodeCells | TurnCells | ValueOf<typeof IDS>;

/** No cells: from this frame on the node is removed. */
export const TOMBSTONE = [] as const;

export const isTombstone = (value: Cells, idColumns = 0): boolean => value[idColumns] === null;

/** True for a row whose own `expires` says that it is gone after this cycle. */
export const isExpired = (value: NodeCells | TurnCells, cycle: number, idColumns = 0): boolean => {
  const expires = value[idColumns + EXPIRES] as number | null;
  return expires !== null && expires <= cycle;
};

/** The index of the column `expires`. */
const EXPIRES = 10;

type NodeFields = {
  readonly payload: EventRef | null;
  readonly expires: number | null;
  readonly parent: string | null;
  readonly ordinal: number;
};

const NULL_BITS = [
  ['role', 1],
  ['kind', 2],
  ['key', 4],
  ['provenance', 8],
  ['refs', 16],
  ['removable', 32],
] as const;

const cellsOf = (headers: Headers, { payload, expires, parent, ordinal }: NodeFields): NodeCells => {
  let nulls = 0;
  for (const [name, bit] of NULL_BITS) if (headers[name] === null) nulls |= bit;
  return [
    headers.nodeType,
    headers.cycle,
    headers.created_at_ns,
    headers.creation_index,
    payload?.seq ?? null,
    payload?.index ?? null,
    headers.offset,
    headers.role ?? null,
    headers.kind ?? null,
    headers.ttl,
    expires,
    parent,
    ordinal === 0 ? null : ordinal,
    headers.priority === 0 ? null : headers.priority,
    headers.key ?? null,
    headers.refs ?? null,
    headers.removable ?? null,
    headers.provenance ?? null,
    nulls === 0 ? null : nulls,
  ];
};

export const nodeCells = ({ headers, expires, parent, payload, location }: NodeRecord): NodeCells =>
  cellsOf(headers, { payload, expires, parent, ordinal: location.kind === 'turn' ? location.ordinal : 0 });

export const turnCells = ({ headers, expires, payload }: TurnRecord): TurnCells => [
  headers.id,
  ...cellsOf(headers, { payload, expires, parent: null, ordinal: 0 }),
];

export const fixedCells = ({ headers, payload }: FixedRecord, ordinal: number): NodeCells =>
  cellsOf(headers, { payload, expires: null, parent: null, ordinal });

/** A node's row without its location. */
export type NodeRow = {
  readonly headers: Headers;
  readonly payload: EventRef | null;
  readonly expires: number | null;
  readonly parent: string | null;
  readonly ordinal: number;
};

/** The node in a row's cells; `firstColumn` is the index of the first column of headers. */
export const nodeRowOf = (id: string, value: NodeCells | TurnCells, firstColumn = 0): NodeRow => {
  const cell = (i: number) => value[firstColumn + i] ?? null;
  const nulls = (cell(18) ?? 0) as number;
  const headers: Record<string, WideJson> & { id: string } = {
    id,
    nodeType: cell(0),
    offset: cell(6),
    ttl: cell(9),
    priority: cell(13) ?? 0,
    cycle: cell(1),
    created_at_ns: cell(2),
    creation_index: cell(3),
  };
  if (cell(7) !== null) headers['role'] = cell(7);
  if (cell(8) !== null) headers['kind'] = cell(8);
  if (cell(14) !== null) headers['key'] = cell(14);
  if (cell(15) !== null) headers['refs'] = cell(15);
  if (cell(16) !== null) headers['removable'] = cell(16);
  if (cell(17) !== null) headers['provenance'] = cell(17);
  if (nulls !== 0) for (const [name, bit] of NULL_BITS) if ((nulls & bit) !== 0) headers[name] = null;
  return {
    headers: headers as unknown as Headers,
    payload: cell(4) === null ? null : { seq: cell(4) as number, index: cell(5) as number },
    expires: cell(10) as number | null,
    parent: cell(11) as string | null,
    ordinal: (cell(12) ?? 0) as number,
  };
};
