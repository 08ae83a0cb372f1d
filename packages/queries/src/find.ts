import { fail } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { lineageName, lineageNamed, mainStrand, type Line } from '@stemma/history-store';
import { findHistory, findLineage, listHistories } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/** The shortest beginning of an id that stands for it. */
const SHORTEST = 4;

/**
 * The history or lineage that people mean: a history by its id, by the beginning of its id, or by its name (its root
 * lineage), or a lineage as `HISTORY:STRAND` or `HISTORY:NAME`.
 *
 * @throws E_HISTORY_NOT_FOUND, E_HISTORY_AMBIGUOUS, E_LINEAGE_NOT_FOUND
 */
export const findLine = (rows: RowReader, name: string): Line => {
  const whole = historyNamed(rows, name);
  if (whole !== undefined) return mainOf(rows, whole);
  const colon = name.lastIndexOf(':');
  const history = colon === -1 ? undefined : historyNamed(rows, name.slice(0, colon));
  if (history === undefined)
    throw fail('E_HISTORY_NOT_FOUND', `there is no history ${JSON.stringify(name)}`, { name });
  return lineageCalled(rows, history, name.slice(colon + 1));
};

/** The lineage of a history that has a name or is a strand; undefined if there is none. */
export const lineageIn = (rows: RowReader, history: string, name: string): Line | undefined => {
  const named = lineageNamed(rows, history, name);
  if (named !== undefined) return lineIn(rows, history, named);
  if (!/^(0|[1-9][0-9]{0,14})$/.test(name)) return undefined;
  return findLineage(rows, history, Number(name)) && lineIn(rows, history, Number(name));
};

const lineIn = (rows: RowReader, history: string, strand: number): Line => ({
  history,
  strand,
  lineage: lineageName(rows, history, strand),
});

const historyNamed = (rows: RowReader, name: string): string | undefined => {
  if (findHistory(rows, name) !== undefined) return name;
  const named = historyId(name, '');
  if (findHistory(rows, named) !== undefined) return named;
  if (!/^h[a-z2-7]{3,19}$/.test(name) || name.length < SHORTEST) return undefined;
  const found = listHistories(rows, { after: before(name), limit: 2 }).filter(({ history }) =>
    history.startsWith(name),
  );
  if (found.length > 1)
    throw fail(
      'E_HISTORY_AMBIGUOUS',
      `several histories begin with ${name}: ${found.map(({ history }) => history).join(', ')}`,
      { name },
    );
  return found[0]?.history;
};

/** A text that comes just before every text that begins with `id`, and behind every smaller id of the same alphabet. */
const before = (id: string): string =>
  id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1) + '~';

/** The lineage that has the name `main` now: the root's, until a rollback passes the name on (context-tree §5). */
const mainOf = (rows: RowReader, history: string): Line => lineIn(rows, history, mainStrand(rows, history));

const lineageCalled = (rows: RowReader, history: string, name: string): Line => {
  const found = lineageIn(rows, history, name);
  if (found === undefined)
    throw fail('E_LINEAGE_NOT_FOUND', `the history ${history} has no lineage ${JSON.stringify(name)}`, {
      history,
      lineage: name,
    });
  return found;
};
