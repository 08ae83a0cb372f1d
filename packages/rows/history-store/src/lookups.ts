import type { BranchPosition } from '@stemma/events';
import type { BranchTip } from '@stemma/history';
import { findRow, listRows, type RowReader } from '@stemma/row-store';
import { readTipSeq } from './read-position.ts';
import { BRANCH_NAMES, BRANCHES, COMMANDS, IDS, NAMES } from './tables.ts';

/** True if a node of the history, on any branch at any time, has or had this id. */
export const isIdTaken = (rows: RowReader, history: string, id: string): boolean =>
  listRows(rows, IDS, { history, id }, { limit: 1 }).length > 0;

/** The frame that inserted a node, on any branch: an id is never used twice. Undefined if the history never had it. */
export const findFirstFrame = (rows: RowReader, history: string, id: string): BranchPosition | undefined => {
  const [first] = listRows(rows, IDS, { history, id }, { limit: 1 });
  return first && { branchId: first.branch_id, seq: first.from };
};

/** True if the frame that started the history inserted the node: an import brought it. */
export const isFromFirstFrame = (rows: RowReader, history: string, id: string): boolean =>
  findFirstFrame(rows, history, id)?.seq === 0;

/** The position that has a name. */
export const findNamedPosition = (
  rows: RowReader,
  history: string,
  name: string,
): BranchPosition | undefined => {
  const value = rows.get(NAMES, [history, name]);
  return value && { branchId: value[0], seq: value[1] };
};

/** The frame that recorded a command (record §3: commands remembered). */
export const findCommand = (
  rows: RowReader,
  history: string,
  command: string,
): { readonly seq: number; readonly digest: Uint8Array } | undefined => {
  const value = rows.get(COMMANDS, [history, command]);
  return value && { seq: value[0], digest: value[1] };
};

/** The branch that has a name now. */
export const findBranchByName = (rows: RowReader, history: string, name: string): number | undefined =>
  rows.get(BRANCH_NAMES, [history, name])?.[0] ?? undefined;

/** The tip of a branch, in two look-ups; undefined if there is no such branch. */
export const readBranchTip = (rows: RowReader, history: string, branchId: number): BranchTip | undefined => {
  const row = findRow(rows, BRANCHES, { history, branch_id: branchId });
  if (row === undefined) return undefined;
  const { parent, at, name } = row;
  return {
    branchId,
    parent: parent === null ? null : { branchId: parent, at: at as number },
    name,
    seq: readTipSeq(rows, history, branchId),
  };
};

/** All that decisions look up in a history; undefined if any table has more than `most` rows of it. */
export const listLookups = (
  rows: RowReader,
  history: string,
  most: number,
):
  | {
      readonly ids: readonly string[];
      readonly names: readonly string[];
      readonly branches: readonly (readonly [string, number | undefined])[];
      readonly commands: readonly (readonly [string, { seq: number; digest: Uint8Array }])[];
    }
  | undefined => {
  const limits = { limit: most + 1 };
  const ids = listRows(rows, IDS, { history }, limits);
  const names = listRows(rows, NAMES, { history }, limits);
  const branches = listRows(rows, BRANCH_NAMES, { history }, limits);
  const commands = listRows(rows, COMMANDS, { history }, limits);
  if ([ids, names, branches, commands].some((list) => list.length > most)) return undefined;
  return {
    ids: ids.map(({ id }) => id),
    names: names.map(({ name }) => name),
    branches: branches.map(({ name, branch_id }) => [name, branch_id]),
    commands: commands.map(({ command, seq, digest }) => [command, { seq, digest }]),
  };
};
