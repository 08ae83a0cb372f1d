import type { DatabaseSync } from 'node:sqlite';
import { conditionsOf, matchOf, tagsOf } from './index-words.ts';
import type { FoundDocument, FoundDocuments, IndexFilter } from './indexed.ts';
import type { Term } from './words.ts';

/** So many matches are ranked and counted. */
const MOST_RANKED = 20_000;
/** A word in more documents than that decides no order: to weigh it, SQLite would read all of them. */
const MOST_WEIGHED = 50_000;
export type FindDocuments = (
  terms: readonly Term[],
  filter: IndexFilter,
  page: { readonly skip: number; readonly limit: number },
) => FoundDocuments;

/** Finds documents in the tables of an index. @throws what SQLite throws */
export const openFindDocuments = (database: DatabaseSync): FindDocuments => {
  const numberOf = database.prepare('SELECT number FROM histories WHERE history = ?');
  const readDocument = database.prepare(
    `SELECT (SELECT history FROM histories h WHERE h.number = d.history) AS history, branch AS branchId, seq,
     event AS "index", part FROM documents d WHERE number = ?`,
  );
  const hasMore = database.prepare(
    'SELECT 1 FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?',
  );
  /** The numbers of what matches, the newest first: all of them, or one more than are ranked. */
  const newest = (match: string, filter: IndexFilter): readonly number[] => {
    const [conditions, values] = conditionsOf(filter);
    const where = ['words MATCH ?', ...conditions];
    const { since, until } = filter;
    let range: readonly number[] = [];
    if (since !== undefined || until !== undefined) {
      const { first, last } = database
        .prepare(
          'SELECT min(first) AS first, max(last) AS last FROM spans WHERE latest >= ? AND earliest <= ?',
        )
        .get(since ?? -Infinity, until ?? Infinity) as { first: number | null; last: number | null };
      if (first === null || last === null) return [];
      where.push('words.rowid >= ?', 'words.rowid <= ?');
      range = [first, last];
    }
    const from = conditions.length === 0 ? 'words' : 'words CROSS JOIN documents d ON d.number = words.rowid';
    return numbers(
      `SELECT words.rowid AS number FROM ${from} WHERE ${where.join(' AND ')}
       ORDER BY words.rowid DESC LIMIT ${MOST_RANKED + 1}`,
      [match, ...values, ...range],
    );
  };
  const numbers = (sql: string, values: readonly (string | number)[]): readonly number[] =>
    database
      .prepare(sql)
      .all(...values)
      .map((row) => (row as { number: number }).number);
  /**
   * The best first, of those that are alike the newest; undefined if all words are in so many documents that they decide
   * nothing.
   */
  const best = (matching: readonly number[], terms: readonly Term[]): readonly number[] | undefined => {
    if (matching.length < 2) return matching;
    const weighed = terms.filter((term) => !term.not && isWeighed(term));
    if (weighed.length === 0) return undefined;
    // An id that is looked for counts more than a text that has it too. The plus: SQLite goes through the words once.
    return numbers(
      `SELECT rowid AS number FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
       ORDER BY bm25(words, 1.0, 4.0, 0.0), rowid DESC`,
      [matchOf(weighed, []), JSON.stringify(matching)],
    );
  };
  /** Words in too many documents to be weighed: documents are only added. */
  const common = new Set<string>();
  const isCommon = (word: string, prefix: boolean): boolean => {
    const match = matchOf([{ words: [word], name: null, prefix, not: false }], []);
    if (!common.has(match) && hasMore.get(match, MOST_WEIGHED) !== undefined) common.add(match);
    return common.has(match);
  };
  /** True if one of its words is in few enough documents. */
  const isWeighed = ({ words, prefix }: Term): boolean =>
    words.some((word, i) => !isCommon(word, prefix && i === words.length - 1));
  return (terms, filter, { skip, limit }) => {
    const history =
      filter.history === undefined
        ? undefined
        : (numberOf.get(filter.history) as { number: number } | undefined)?.number;
    if (filter.history !== undefined && history === undefined)
      return { documents: [], total: 0, more: false, ranked: true };
    const matching = newest(matchOf(terms, tagsOf(filter, history)), filter);
    const more = matching.length > MOST_RANKED;
    const ordered = more ? undefined : best(matching, terms);
    const documents = (ordered ?? matching)
      .slice(skip, Math.min(skip + limit, MOST_RANKED))
      .map((number) => ({ ...readDocument.get(number) }) as FoundDocument);
    return {
      documents,
      total: Math.min(matching.length, MOST_RANKED),
      more,
      ranked: ordered !== undefined,
    };
  };
};

/** Finds the histories of which one document has all terms. @throws what SQLite throws */
export const openHistoriesWith = (
  database: DatabaseSync,
): ((terms: readonly Term[]) => readonly string[]) => {
  const matching = database.prepare(
    `SELECT history FROM histories WHERE number IN
     (SELECT d.history FROM words CROSS JOIN documents d ON d.number = words.rowid WHERE words MATCH ?)`,
  );
  return (terms) => matching.all(matchOf(terms, [])).map((row) => (row as { history: string }).history);
};
