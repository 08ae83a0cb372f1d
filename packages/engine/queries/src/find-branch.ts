import { fail, isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { branchAddressOf, findBranchByName, mainBranchId, type BranchRef } from '@stemma/history-store';
import { findBranch, findHistory, listHistories } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/**
 * The branch that an address names: a history by its id, a prefix of its id or its name (then its `main`), or a
 * branch as `HISTORY:BRANCH_ID` or `HISTORY:NAME`.
 *
 * @throws E_HISTORY_NOT_FOUND, E_HISTORY_AMBIGUOUS, E_BRANCH_NOT_FOUND
 */
export const findBranchRef = (rows: RowReader, name: string): BranchRef => {
  const whole = findHistoryNamed(rows, name);
  if (whole !== undefined) return mainBranchOf(rows, whole);
  const colon = name.lastIndexOf(':');
  const history = colon === -1 ? undefined : findHistoryNamed(rows, name.slice(0, colon));
  if (history === undefined)
    throw fail('E_HISTORY_NOT_FOUND', `there is no history ${JSON.stringify(name)}`, { name });
  return requireBranch(rows, history, name.slice(colon + 1));
};

/** The branch of a history with this name or id; undefined if there is none. */
export const findBranchIn = (rows: RowReader, history: string, name: string): BranchRef | undefined => {
  const named = findBranchByName(rows, history, name);
  if (named !== undefined) return branchRefIn(rows, history, named);
  if (!/^(0|[1-9][0-9]{0,14})$/.test(name)) return undefined;
  return findBranch(rows, history, Number(name)) && branchRefIn(rows, history, Number(name));
};

/**
 * The branch of a history that a text names: by name, by id, or by an address such as `HISTORY:NAME`.
 *
 * @throws E_BRANCH_NOT_FOUND, also for a branch of another history
 */
export const findBranchOf = (rows: RowReader, history: string, name: string): BranchRef => {
  const own = findBranchIn(rows, history, name) ?? findByAddress(rows, name);
  if (own?.history === history) return own;
  throw noBranch(history, name);
};

/**
 * The branch of a history that a text names, or that of another history by its address.
 *
 * @throws E_BRANCH_NOT_FOUND
 */
export const findAnyBranch = (rows: RowReader, history: string, name: string): BranchRef => {
  const found = findBranchIn(rows, history, name) ?? findByAddress(rows, name);
  if (found === undefined) throw noBranch(history, name);
  return found;
};

const findByAddress = (rows: RowReader, address: string): BranchRef | undefined => {
  try {
    return findBranchRef(rows, address);
  } catch (error) {
    if (isStemmaError(error, 'E_HISTORY_NOT_FOUND')) return undefined;
    throw error;
  }
};

const noBranch = (history: string, name: string): Error =>
  fail('E_BRANCH_NOT_FOUND', `the history ${history} has no branch ${JSON.stringify(name)}`, {
    history,
    branch: name,
  });

const branchRefIn = (rows: RowReader, history: string, branchId: number): BranchRef => ({
  history,
  branchId,
  branch: branchAddressOf(rows, history, branchId),
});

/** What the beginning of an id looks like, where it is long enough to name a history. */
export const ID_BEGINNING = /^h[a-z2-7]{3,19}$/;

const findHistoryNamed = (rows: RowReader, name: string): string | undefined => {
  if (findHistory(rows, name) !== undefined) return name;
  const named = historyId(name, '');
  if (findHistory(rows, named) !== undefined) return named;
  if (!ID_BEGINNING.test(name)) return undefined;
  const found = listHistories(rows, { after: justBefore(name), limit: 2 }).filter(({ history }) =>
    history.startsWith(name),
  );
  if (found.length > 1)
    throw fail(
      'E_HISTORY_AMBIGUOUS',
      `several histories start with ${name}: ${found.map(({ history }) => history).join(', ')}`,
      { name },
    );
  return found[0]?.history;
};

/** A text that sorts just before every text that begins with `id`, and after every smaller id of the same alphabet. */
const justBefore = (id: string): string =>
  id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1) + '~';

/** The branch that has the name `main` now: the root's, until a rollback passes the name on (context-tree §5). */
const mainBranchOf = (rows: RowReader, history: string): BranchRef =>
  branchRefIn(rows, history, mainBranchId(rows, history));

const requireBranch = (rows: RowReader, history: string, name: string): BranchRef => {
  const found = findBranchIn(rows, history, name);
  if (found === undefined) throw noBranch(history, name);
  return found;
};
