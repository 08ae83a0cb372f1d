import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import { findRow, listRows, type NamedRow, putRow, type RowReader, type Rows } from '@stemma/row-store';
import type { DecidedTool, Decisions, GoneBy } from './decisions.ts';
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
  /** Tokens of the messages that entered, and those that the removed ones had. */
  readonly cameTokens: number;
  readonly goneTokens: number;
  readonly goneBy: GoneBy;
  /** What the messages since the newest snapshot show of the call with it; where a cycle ends, of the call before. */
  readonly decisions: Decisions;
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
  const { roles, came, parent, goneBy, decisions } = size;
  putRow(rows, PROMPT_SIZES, {
    history,
    branch_id: branchId,
    seq,
    messages: size.messages,
    bytes: size.bytes,
    tokens: size.tokens,
    by_system: roles.system,
    by_user: roles.user,
    by_assistant: roles.assistant,
    by_tool: roles.tool,
    by_other: roles.other,
    sys: size.sys,
    entered: size.entered,
    removed: size.removed,
    since: size.since,
    turn: size.turn,
    head: size.head,
    came: came.length === 0 ? null : came,
    parent: parent?.branchId ?? null,
    at: parent?.at ?? null,
    came_tokens: size.cameTokens,
    gone_tokens: size.goneTokens,
    gone_by: Object.keys(goneBy).length === 0 ? null : Object.fromEntries(Object.entries(goneBy)),
    said: decisions.said,
    tools: decisions.tools.length === 0 ? null : decisions.tools,
    summaries: decisions.summaries,
  });
  putRow(rows, SIZE_HEADS, { history, branch_id: branchId, seq });
};

const sizeOf = (row: NamedRow<typeof PROMPT_SIZES>): SizeRow => ({
  messages: row.messages,
  bytes: row.bytes,
  tokens: row.tokens,
  roles: {
    system: row.by_system,
    user: row.by_user,
    assistant: row.by_assistant,
    tool: row.by_tool,
    other: row.by_other,
  },
  sys: row.sys,
  entered: row.entered,
  removed: row.removed,
  since: row.since,
  turn: row.turn,
  head: row.head,
  came: (row.came ?? []) as readonly string[],
  parent: row.parent === null || row.at === null ? null : { branchId: row.parent, at: row.at },
  cameTokens: row.came_tokens,
  goneTokens: row.gone_tokens,
  goneBy: (row.gone_by ?? {}) as GoneBy,
  decisions: {
    said: row.said,
    tools: (row.tools ?? []) as readonly DecidedTool[],
    summaries: row.summaries,
  },
});

/** A row of a branch, with its frame. */
export type SizeOfFrame = { readonly seq: number; readonly size: SizeRow };

/** What a branch shows from each of its own frames on that changes it, oldest first, from a frame on. */
export const listSizes = (
  rows: RowReader,
  history: string,
  branchId: number,
  bounds: { readonly from?: number; readonly limit?: number } = {},
): readonly SizeOfFrame[] =>
  listRows(rows, PROMPT_SIZES, { history, branch_id: branchId }, bounds).map((row) => ({
    seq: row.seq,
    size: sizeOf(row),
  }));

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
  const branch = { history, branch_id: branchId };
  const head = findRow(rows, SIZE_HEADS, branch)?.seq;
  if (head === undefined) {
    const [other] = listRows(rows, PROMPT_SIZES, branch, { limit: 1 });
    if (other === undefined) return undefined;
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack the newest sizes of branch ${branchId}`, {
      history,
    });
  }
  const row = head <= seq ? findRow(rows, PROMPT_SIZES, { ...branch, seq: head }) : undefined;
  if (row !== undefined) return { branchId, seq: head, size: sizeOf(row) };
  const [newest] = listRows(rows, PROMPT_SIZES, branch, { to: seq, reverse: true, limit: 1 });
  if (newest !== undefined) return { branchId, seq: newest.seq, size: sizeOf(newest) };
  const [start] = listRows(rows, PROMPT_SIZES, branch, { limit: 1 });
  const parent = start === undefined ? null : sizeOf(start).parent;
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
  const frames = { from: since, to: seq };
  for (const row of listRows(rows, PROMPT_SIZES, { history, branch_id: branchId }, frames))
    for (const id of sizeOf(row).came) ids.add(id);
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
  const row = findRow(rows, PROMPT_SIZES, { history, branch_id: branchId, seq });
  return row && sizeOf(row);
};
