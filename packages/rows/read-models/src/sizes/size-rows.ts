import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import type { RowReader, Rows, ValueOf } from '@stemma/row-store';
import type { RoleTokens } from './roles.ts';
import { PROMPT_SIZES, SIZE_HEADS } from './tables.ts';

/** What the thread shows from a frame on, in numbers. */
export type SizeRow = {
  readonly messages: number;
  /** Of their JSON in the thread, without what stands between them. */
  readonly bytes: number;
  readonly tokens: number;
  readonly roles: RoleTokens;
  /** Tokens under `^sys`. */
  readonly sys: number;
  /** Messages that the newest snapshot does not have, and those that only it has; where a cycle ends, against the one before. */
  readonly entered: number;
  readonly removed: number;
  /** The frame from which on rows say which nodes entered since the newest snapshot. */
  readonly since: number;
  /** Tokens of the newest turn and of the head; null where no cycle ends. */
  readonly turn: number | null;
  readonly head: number | null;
  /** The nodes that entered. */
  readonly came: readonly string[];
  /** Where the branch starts from; null where none starts. */
  readonly parent: { readonly branchId: number; readonly at: number } | null;
};

/** Writes what a branch shows from a frame on. */
export const putSize = (rows: Rows, history: string, branchId: number, seq: number, size: SizeRow): void => {
  rows.put(PROMPT_SIZES, [history, branchId, seq], sizeCells(size));
  rows.put(SIZE_HEADS, [history, branchId], [seq]);
};

const sizeCells = (size: SizeRow): ValueOf<typeof PROMPT_SIZES> => {
  const { roles, came, parent } = size;
  return [
    ...([size.messages, size.bytes, size.tokens] as const),
    ...([roles.system, roles.user, roles.assistant, roles.tool, roles.other] as const),
    ...([size.sys, size.entered, size.removed, size.since, size.turn, size.head] as const),
    ...([came.length === 0 ? null : [...came], parent?.branchId ?? null, parent?.at ?? null] as const),
  ];
};

const sizeOf = (value: ValueOf<typeof PROMPT_SIZES>): SizeRow => {
  const [messages, bytes, tokens, system, user, assistant, tool, other, sys, ...rest] = value;
  const [entered, removed, since, turn, head, came, branchId, at] = rest;
  return {
    ...{ messages, bytes, tokens, roles: { system, user, assistant, tool, other }, sys },
    ...{ entered, removed, since, turn, head, came: (came ?? []) as readonly string[] },
    parent: branchId === null || at === null ? null : { branchId, at },
  };
};

/**
 * What the thread shows at a position, and the branch whose row says so; undefined: the thread is not full.
 *
 * @throws E_ROWS_DAMAGED
 */
export const sizeAt = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): { readonly branchId: number; readonly seq: number; readonly size: SizeRow } | undefined => {
  // Nearly always the newest row is wanted, and one row is found faster than the newest of several.
  const [head] = rows.get(SIZE_HEADS, [history, branchId]) ?? [];
  if (head === undefined) {
    const [other] = rows.range(PROMPT_SIZES, { prefix: [history, branchId], limit: 1 });
    if (other === undefined) return undefined;
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack the newest sizes of branch ${branchId}`, {
      history,
    });
  }
  const value = head <= seq ? rows.get(PROMPT_SIZES, [history, branchId, head]) : undefined;
  if (value !== undefined) return { branchId, seq: head, size: sizeOf(value) };
  const range = { prefix: [history, branchId], to: seq, reverse: true, limit: 1 } as const;
  const [newest] = rows.range(PROMPT_SIZES, range);
  if (newest !== undefined) return { branchId, seq: newest.key[2], size: sizeOf(newest.value) };
  const [start] = rows.range(PROMPT_SIZES, { prefix: [history, branchId], limit: 1 });
  const parent = start === undefined ? null : sizeOf(start.value).parent;
  return parent === null ? undefined : sizeAt(rows, history, parent.branchId, Math.min(seq, parent.at));
};

/** The nodes that entered since the newest snapshot at a row, on its branch or before it started. */
export const nodesEntered = (
  rows: RowReader,
  history: string,
  branchId: number,
  { since, turn }: SizeRow,
  seq: number,
): ReadonlySet<string> => {
  const ids = new Set<string>();
  if (turn !== null) return ids;
  for (const { value } of rows.range(PROMPT_SIZES, { prefix: [history, branchId], from: since, to: seq }))
    for (const id of sizeOf(value).came) ids.add(id);
  return ids;
};

/** The bytes of the thread at a position. Undefined: it is not full. */
export const readThreadLength = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): number | undefined => {
  const found = sizeAt(rows, history, branchId, seq);
  if (found === undefined) return undefined;
  const { messages, bytes } = found.size;
  // Two brackets, and a comma between two messages.
  return 2 + bytes + Math.max(0, messages - 1);
};

/** What a call was shown: the row of the frame of its snapshot. Undefined: its thread is not full. */
export const findPromptSize = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
): SizeRow | undefined => {
  const value = rows.get(PROMPT_SIZES, [history, branchId, seq]);
  return value && sizeOf(value);
};
