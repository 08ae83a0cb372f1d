import type { EventRef } from '@stemma/context-tree';
import { isRunScope } from '@stemma/history';
import {
  findRow,
  listRows,
  type NamedKey,
  type NamedRow,
  putRow,
  removeRow,
  type RowReader,
  type Rows,
} from '@stemma/row-store';
import { bucketOfText } from './call-links.ts';
import { RUN_BRANCHES, RUN_CALLS } from './tables.ts';

/** The newest call of a branch of a run, whose answer calls tools: others may be made for it. */
export type WaitingCall = {
  readonly history: string;
  readonly branchId: number;
  /** The event that ended it. */
  readonly location: EventRef;
};

type StartedCall = {
  readonly history: string;
  readonly branchId: number;
  readonly position: number;
  readonly scope: string;
  readonly at: bigint;
  readonly location: EventRef;
};

const timeBytes = (at: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, at);
  return bytes;
};

/** A call of a run was made: it is the newest of its branch, unless an older position was called with again. */
export const noteRunCall = (rows: Rows, call: StartedCall): void => {
  const { history, branchId, position, scope, at, location } = call;
  // Only runs have calls that others are made for.
  if (!isRunScope(scope)) return;
  const before = findRow(rows, RUN_BRANCHES, { history, branch_id: branchId });
  if (before !== undefined && before.position > position) return;
  if (before !== undefined) removeRow(rows, RUN_CALLS, runCallOf(before));
  putRow(rows, RUN_BRANCHES, { history, branch_id: branchId, scope, at, position, ...location });
};

type CallOfBranch = EventRef & { readonly branchId: number };

/** It ended, and its answer calls tools. @param ended the event that says so */
export const noteWaitingCall = (rows: Rows, history: string, call: CallOfBranch, ended: EventRef): void => {
  const found = findRunCall(rows, history, call);
  if (found !== undefined) putRow(rows, RUN_CALLS, { ...found, seq: ended.seq, index: ended.index });
};

/** No other call is made for it. */
export const forgetRunCall = (rows: Rows, history: string, call: CallOfBranch): void => {
  const found = findRunCall(rows, history, call);
  if (found !== undefined) removeRow(rows, RUN_CALLS, found);
};

const findRunCall = (
  rows: Rows,
  history: string,
  { branchId, seq, index }: CallOfBranch,
): NamedKey<typeof RUN_CALLS> | undefined => {
  const newest = findRow(rows, RUN_BRANCHES, { history, branch_id: branchId });
  return newest?.seq === seq && newest.index === index ? runCallOf(newest) : undefined;
};

const runCallOf = ({
  history,
  branch_id,
  scope,
  at,
}: NamedRow<typeof RUN_BRANCHES>): NamedKey<typeof RUN_CALLS> => ({
  bucket: bucketOfText(scope),
  scope,
  at: timeBytes(at),
  history,
  branch_id,
});

/** The calls of a run that wait for tools, the newest first. @param scope of its calls */
export const listWaitingCalls = (rows: RowReader, scope: string, limit: number): readonly WaitingCall[] =>
  listRows(rows, RUN_CALLS, { bucket: bucketOfText(scope), scope }, { reverse: true, limit }).map(
    ({ history, branch_id, seq, index }) => ({ history, branchId: branch_id, location: { seq, index } }),
  );
