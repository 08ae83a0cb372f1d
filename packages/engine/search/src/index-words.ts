import type { DocumentKind } from './documents.ts';
import type { IndexFilter } from './indexed.ts';
import { cutText, type Term } from './words.ts';

/** Stands before each name behind the words of a text, so that no phrase goes from one to the next: no word has it. */
const APART = '\u2021';

export const wordsIn = (text: string): string => {
  const { words, names } = cutText(text);
  return [...words.map(({ word }) => word), ...names.flatMap(({ word }) => [APART, word])].join(' ');
};

/** The terms in the language of FTS5: its operators stand in no word, and every phrase in quotation marks. */
export const matchOf = (terms: readonly Term[], tags: readonly string[]): string => {
  const phrase = ({ words, name, prefix }: Term): string => {
    const [inWords, whole] = [words.join(' '), name].map((text) => `"${text ?? ''}"${prefix ? ' *' : ''}`);
    return name === null ? (inWords as string) : `(${inWords} OR ${whole})`;
  };
  const wanted = terms.filter(({ not }) => !not).map(phrase);
  const unwanted = terms.filter(({ not }) => not).map(phrase);
  return `(${[...wanted, ...tags].join(' AND ')})${unwanted.map((each) => ` NOT ${each}`).join('')}`;
};

/*
 * Tags are words for FTS5 and for nobody else: no word that is cut out of a text has the character they begin with. A role is
 * any text, and so it is in hexadecimal digits.
 */
export const roleTag = (role: string): string => `§r${Buffer.from(role).toString('hex')}`;
export const kindTag = (kind: DocumentKind): string => `§k${kind}`;
export const historyTag = (history: number): string => `§h${history}`;
export const branchTag = (history: number, branchId: number): string => `§h${history}b${branchId}`;

/** What the tags of a document say of the filter. */
export const tagsOf = ({ path, kind, role }: IndexFilter, history: number | undefined): readonly string[] => {
  const tags: string[] = [];
  const put = (...oneOf: readonly string[]): void =>
    void tags.push(`(${oneOf.map((tag) => `"${tag}"`).join(' OR ')})`);
  if (history !== undefined)
    if (path === undefined || path.length === 0) put(historyTag(history));
    else put(...path.map(({ branchId }) => branchTag(history, branchId)));
  if (kind !== undefined) put(kindTag(kind));
  if (role !== undefined) put(roleTag(role));
  return tags;
};

/** What only the document itself says. */
export const conditionsOf = ({
  path,
  among,
  since,
  until,
}: IndexFilter): readonly [sql: readonly string[], values: readonly (string | number)[]] => {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const put = (sql: string, ...given: readonly (string | number)[]): void => {
    conditions.push(sql);
    values.push(...given);
  };
  if (path !== undefined)
    put(
      `(${path.map(() => '(d.branch = ? AND d.seq <= ?)').join(' OR ') || '0'})`,
      ...path.flatMap(({ branchId, limit }) => [branchId, limit]),
    );
  if (among !== undefined)
    put(
      'd.history IN (SELECT number FROM histories WHERE history IN (SELECT value FROM json_each(?)))',
      JSON.stringify(among),
    );
  if (since !== undefined) put('d.at >= ?', since);
  if (until !== undefined) put('d.at <= ?', until);
  return [conditions, values];
};
