import { fail, isStemmaError } from '@stemma/errors';
import { isIrregular, makeFolder, openRegularFile, refuseIrregular } from '@stemma/machine';
import { chmodSync, closeSync, fstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { DocumentKind } from './documents.ts';
import { openFileSum, type FileSum } from './file-sum.ts';
import { cutText, type Term } from './words.ts';

/** A document as it is put into the index. */
export type IndexedDocument = {
  readonly history: string;
  readonly branchId: number;
  readonly seq: number;
  /** The event of the frame, and the document of the event. */
  readonly index: number;
  readonly part: number;
  readonly kind: DocumentKind;
  readonly role: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly ids: string;
};

/** A document that the index names; what it says is read from the log. */
export type FoundDocument = Pick<IndexedDocument, 'history' | 'branchId' | 'seq' | 'index' | 'part'>;

export type IndexFilter = {
  readonly history?: string | undefined;
  /** Own frames of branches up to a frame each: the ancestor path of a branch. */
  readonly path?: readonly { readonly branchId: number; readonly limit: number }[] | undefined;
  readonly kind?: DocumentKind | undefined;
  readonly role?: string | undefined;
  /** Milliseconds since 1970, both included. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
};

export type FoundDocuments = {
  readonly documents: readonly FoundDocument[];
  /** All that match, counted up to {@link MOST_RANKED}. */
  readonly total: number;
  /** More than `total` match. */
  readonly more: boolean;
  /** False: too many match to compare them, or have all of the words; the newest come first. */
  readonly ranked: boolean;
};

/** The index in a file. */
export type IndexFile = {
  /** How far it has read the log; null: it has read nothing. */
  readonly cursor: () => string | null;
  /** Adds documents and moves the cursor, both or neither. False if the cursor is not the expected one any more. */
  readonly add: (documents: readonly IndexedDocument[], expected: string | null, cursor: string) => boolean;
  readonly find: (
    terms: readonly Term[],
    filter: IndexFilter,
    page: { readonly skip: number; readonly limit: number },
  ) => FoundDocuments;
  /** Notes the checksum of the file, if that is due after `add`. */
  readonly settle: () => void;
  /**
   * What an answer need not wait for: `settle`, and reading the whole file if this process has not yet, a piece at a time. Tells if
   * it is not as it was left. Ends with `close`.
   */
  readonly checkLater: (altered: () => void) => void;
  readonly close: () => void;
};

/** So many matches are ranked and counted. */
const MOST_RANKED = 20_000;
/** A word in more documents than that decides no order: to weigh it, SQLite would read all of them. */
const MOST_WEIGHED = 50_000;
/** Milliseconds that one process waits for another that writes. */
const BUSY = 10_000;
/** Another number: indexes of other versions are made anew. */
const VERSION = 4;

/*
 * Filters are words too, in the column `tags`: SQLite goes through the shorter of two lists and leaps in the longer one, so that
 * it looks at no document that a filter leaves out. Of times there are too many; a span says when a stretch of documents was
 * recorded, and the stretches that a time may be in are consecutive, or nearly so.
 *
 * The words are fed as this package cuts them, with spaces between: so a query and a text are cut alike, whatever letters
 * SQLite knows. The index holds no texts (`content=''`): what is shown comes from the log, which is checked.
 */
const TABLES = `
  CREATE TABLE histories (number INTEGER PRIMARY KEY, history TEXT NOT NULL UNIQUE);
  CREATE TABLE documents (
    number INTEGER PRIMARY KEY, history INTEGER NOT NULL, branch INTEGER NOT NULL, seq INTEGER NOT NULL,
    event INTEGER NOT NULL, part INTEGER NOT NULL, at INTEGER NOT NULL
  );
  CREATE TABLE spans (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, earliest INTEGER NOT NULL, latest INTEGER NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5 (text, ids, tags, content='', tokenize='ascii', prefix='1 2');
  CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT);
  INSERT INTO state VALUES (1, NULL);
  PRAGMA user_version = ${VERSION};
`;

const FILE = 'index.sqlite';

/** Removes the index of a home: it is made anew by the next search. */
export const removeIndex = (directory: string): void => {
  rmSync(folderOf(directory), { recursive: true, force: true });
};

type Sqlite = typeof DatabaseSync;

const folderOf = (directory: string): string => join(directory, 'search');

/**
 * Opens the index of a home, or makes an empty one. A file that is no index of this version, or is not as it was left, is
 * replaced.
 *
 * @param damaged is told of a file that is damaged
 * @param readAtOnce a file of so many bytes is read whole before the first answer, whatever is known of it. Default 64 MiB
 * @throws E_IO, E_SEARCH_BUSY
 */
export const openIndexFile = async (
  directory: string,
  damaged: () => void,
  readAtOnce?: number,
): Promise<IndexFile> => {
  // Loaded when somebody searches: it takes longer than the rest of a command's start.
  const { DatabaseSync } = await import('node:sqlite');
  try {
    return open(DatabaseSync, directory, readAtOnce);
  } catch (error) {
    if (!isDamage(error)) throw toStemmaError(error);
    if (!(error instanceof Outdated)) damaged();
    removeIndex(directory);
    try {
      return open(DatabaseSync, directory, readAtOnce);
    } catch (again) {
      throw toStemmaError(again);
    }
  }
};

const open = (Database: Sqlite, directory: string, readAtOnce: number | undefined): IndexFile => {
  const folder = folderOf(directory);
  makeFolder(folder);
  const path = join(folder, FILE);
  // SQLite would make it readable for others. Closed after SQLite has closed it: closing it sooner would end SQLite's locks.
  const file = openRegularFile(path, 'make');
  let database: DatabaseSync | undefined;
  try {
    // Changing it would change the time by which the file is known to be as it was.
    if ((fstatSync(file).mode & 0o777) !== 0o600) chmodSync(path, 0o600);
    for (const beside of [`${path}-journal`, `${path}-wal`, `${path}.sum`]) refuseIrregular(beside);
    const sum = openFileSum(path, file, readAtOnce);
    database = new Database(path, { timeout: BUSY });
    // Texts of the journal vanish with it; the file is disposable, so it need not survive the machine's power.
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY');
    database.exec('BEGIN IMMEDIATE');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as {
      user_version: number;
    };
    const state = sum.compare();
    if (state === 'altered') throw new Altered();
    if (version !== 0 && (version !== VERSION || state === 'unknown')) throw new Outdated();
    if (version === 0) {
      if (!sum.begin()) throw new Altered();
      database.exec(TABLES);
    }
    database.exec('COMMIT');
    return over(database, sum, () => closeSync(file));
  } catch (error) {
    database?.close();
    closeSync(file);
    throw error;
  }
};

/** The file has other bytes than it was left with. */
class Altered extends Error {}

/** It is of another version, or of a process that ended before it was done. */
class Outdated extends Error {}

const over = (database: DatabaseSync, sum: FileSum, closeFile: () => void): IndexFile => {
  const readCursor = database.prepare('SELECT cursor FROM state');
  const writeCursor = database.prepare('UPDATE state SET cursor = ?');
  const putHistory = database.prepare('INSERT OR IGNORE INTO histories (history) VALUES (?)');
  const numberOf = database.prepare('SELECT number FROM histories WHERE history = ?');
  const putDocument = database.prepare(
    'INSERT INTO documents (history, branch, seq, event, part, at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const putWords = database.prepare('INSERT INTO words (rowid, text, ids, tags) VALUES (?, ?, ?, ?)');
  const putSpan = database.prepare('INSERT INTO spans VALUES (?, ?, ?, ?)');
  const readDocument = database.prepare(
    `SELECT (SELECT history FROM histories h WHERE h.number = d.history) AS history, branch AS branchId, seq,
     event AS "index", part FROM documents d WHERE number = ?`,
  );
  const hasMore = database.prepare(
    'SELECT 1 FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?',
  );
  const cursorNow = (): string | null => (readCursor.get() as { cursor: string | null }).cursor;
  const historyNumber = (history: string): number => {
    putHistory.run(history);
    return (numberOf.get(history) as { number: number }).number;
  };
  let later: NodeJS.Immediate | undefined;
  /** Nobody writes meanwhile: who does holds the same lock. */
  const settle = (isLast: boolean): void => {
    if (!sum.isDue(isLast)) return;
    database.exec('BEGIN IMMEDIATE');
    try {
      sum.note();
    } finally {
      database.exec('ROLLBACK');
    }
  };
  const guarded = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw toStemmaError(error);
    }
  };
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
  return {
    cursor: () => guarded(cursorNow),
    add: (documents, expected, cursor) =>
      guarded(() => {
        database.exec('BEGIN IMMEDIATE');
        try {
          if (cursorNow() !== expected) {
            database.exec('ROLLBACK');
            return false;
          }
          if (!sum.begin()) throw new Altered();
          let [first, last, earliest, latest] = [0, 0, Infinity, -Infinity];
          for (const each of documents) {
            const history = historyNumber(each.history);
            const { lastInsertRowid } = putDocument.run(
              history,
              each.branchId,
              each.seq,
              each.index,
              each.part,
              each.at,
            );
            last = Number(lastInsertRowid);
            first ||= last;
            [earliest, latest] = [Math.min(earliest, each.at), Math.max(latest, each.at)];
            const tags = [historyTag(history), branchTag(history, each.branchId), kindTag(each.kind)];
            if (each.role !== null) tags.push(roleTag(each.role));
            putWords.run(last, wordsIn(each.text), wordsIn(each.ids), tags.join(' '));
          }
          if (first > 0) putSpan.run(first, last, earliest, latest);
          writeCursor.run(cursor);
          database.exec('COMMIT');
          return true;
        } catch (error) {
          if (database.isTransaction) database.exec('ROLLBACK');
          throw error;
        }
      }),
    find: (terms, filter, { skip, limit }) =>
      guarded(() => {
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
      }),
    settle: () => guarded(() => settle(false)),
    checkLater: (altered) => {
      later ??= setImmediate(() => {
        later = undefined;
        try {
          settle(false);
        } catch {
          // Another process writes, or the disk is full: it is due again after the next answer.
        }
        sum.compareLater(altered);
      }).unref();
    },
    close: () => {
      clearImmediate(later);
      sum.stop();
      try {
        settle(true);
      } catch {
        // Another process writes, or the disk is full: the next one makes the index anew.
      } finally {
        database.close();
        closeFile();
      }
    },
  };
};

/** Stands before each name behind the words of a text, so that no phrase goes from one to the next: no word has it. */
const APART = '\u2021';

const wordsIn = (text: string): string => {
  const { words, names } = cutText(text);
  return [...words.map(({ word }) => word), ...names.flatMap(({ word }) => [APART, word])].join(' ');
};

/** The terms in the language of FTS5: its operators stand in no word, and every phrase in quotation marks. */
const matchOf = (terms: readonly Term[], tags: readonly string[]): string => {
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
const roleTag = (role: string): string => `§r${Buffer.from(role).toString('hex')}`;
const kindTag = (kind: DocumentKind): string => `§k${kind}`;
const historyTag = (history: number): string => `§h${history}`;
const branchTag = (history: number, branchId: number): string => `§h${history}b${branchId}`;

/** What the tags of a document say of the filter. */
const tagsOf = ({ path, kind, role }: IndexFilter, history: number | undefined): readonly string[] => {
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
const conditionsOf = ({
  path,
  since,
  until,
}: IndexFilter): readonly [sql: readonly string[], values: readonly number[]] => {
  const conditions: string[] = [];
  const values: number[] = [];
  const put = (sql: string, ...given: readonly number[]): void => {
    conditions.push(sql);
    values.push(...given);
  };
  if (path !== undefined)
    put(
      `(${path.map(() => '(d.branch = ? AND d.seq <= ?)').join(' OR ') || '0'})`,
      ...path.flatMap(({ branchId, limit }) => [branchId, limit]),
    );
  if (since !== undefined) put('d.at >= ?', since);
  if (until !== undefined) put('d.at <= ?', until);
  return [conditions, values];
};

/** SQLite's result codes: https://sqlite.org/rescode.html */
const SQLITE = { busy: 5, corrupt: 11, full: 13, notADatabase: 26 } as const;

const codeOf = (error: unknown): number =>
  Number((error as { readonly errcode?: unknown } | null)?.errcode ?? NaN) & 0xff;

/** True if the file is not what this package wrote: it is made anew. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Outdated ||
  error instanceof Altered ||
  isIrregular(error) ||
  codeOf(error) === SQLITE.corrupt ||
  codeOf(error) === SQLITE.notADatabase ||
  // Tables that are missing, or have other columns.
  /no such (table|column)|malformed/u.test(error instanceof Error ? error.message : '');

const isFull = (error: Error): boolean =>
  codeOf(error) === SQLITE.full || ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'));

/** True for what {@link openIndexFile} and its file throw where the disk has no room: what was read into the index stays. */
export const isOutOfRoom = (error: unknown): boolean =>
  isStemmaError(error, 'E_IO') && error.detail['errno'] === 'ENOSPC';

const toStemmaError = (error: unknown): unknown => {
  if (isDamage(error) || !(error instanceof Error) || !('errcode' in error || 'syscall' in error))
    return error;
  return codeOf(error) === SQLITE.busy
    ? fail('E_SEARCH_BUSY', 'another process writes the index of the search')
    : fail('E_IO', `the index of the search: ${error.message}`, isFull(error) ? { errno: 'ENOSPC' } : {});
};
