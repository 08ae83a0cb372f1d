import type { EventRef } from '@stemma/context-tree';
import type { RowReader, Rows } from '@stemma/row-store';
import { bucketOfText } from './call-links.ts';
import { RUN_BRANCHES, RUN_CALLS } from './call-tables.ts';

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

/** Only runs have calls that others are made for. */
const RUN = 'run:';

/** True for the scope of the calls of a run: of other calls it is not kept which wait for tools. */
export const isRunScope = (scope: string): boolean => scope.startsWith(RUN);

const timeBytes = (at: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, at);
  return bytes;
};

/** A call of a run was made: it is the newest of its branch, unless an older position was called with again. */
export const noteRunCall = (rows: Rows, call: StartedCall): void => {
  const { history, branchId, position, scope, at, location } = call;
  if (!isRunScope(scope)) return;
  const before = rows.get(RUN_BRANCHES, [history, branchId]);
  if (before !== undefined && before[2] > position) return;
  if (before !== undefined)
    rows.remove(RUN_CALLS, [bucketOfText(before[0]), before[0], timeBytes(before[1]), history, branchId]);
  rows.put(RUN_BRANCHES, [history, branchId], [scope, at, position, location.seq, location.index]);
};

type CallOfBranch = EventRef & { readonly branchId: number };

/** It ended, and its answer calls tools. @param ended the event that says so */
export const noteWaitingCall = (rows: Rows, history: string, call: CallOfBranch, ended: EventRef): void => {
  const found = rowOf(rows, history, call);
  if (found !== undefined) rows.put(RUN_CALLS, found, [ended.seq, ended.index]);
};

/** No other call is made for it. */
export const forgetRunCall = (rows: Rows, history: string, call: CallOfBranch): void => {
  const found = rowOf(rows, history, call);
  if (found !== undefined) rows.remove(RUN_CALLS, found);
};

const rowOf = (rows: Rows, history: string, { branchId, seq, index }: CallOfBranch) => {
  const newest = rows.get(RUN_BRANCHES, [history, branchId]);
  if (newest === undefined || newest[3] !== seq || newest[4] !== index) return undefined;
  return [bucketOfText(newest[0]), newest[0], timeBytes(newest[1]), history, branchId] as const;
};

/** The calls of a run that wait for tools, the newest first. @param scope `run:` and its name */
export const listWaitingCalls = (rows: RowReader, scope: string, limit: number): readonly WaitingCall[] =>
  rows
    .range(RUN_CALLS, { prefix: [bucketOfText(scope), scope], reverse: true, limit })
    .map(({ key, value: [seq, index] }) => ({
      history: key[3],
      branchId: key[4],
      location: { seq, index },
    }));
