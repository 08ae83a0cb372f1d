import { fail } from '@stemma/errors';
import { makeFolder } from '@stemma/machine';
import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { DocumentKind } from './documents.ts';
import { openFileSum, type FileSum } from './file-sum.ts';
import { wordsOf, type Term } from './words.ts';

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
  /** False: too many match to compare them; the newest come first. */
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
  /** After the last of several `add`: notes the checksum of the file, if that is due. */
  readonly settle: () => void;
  readonly close: () => void;
};

/** So many matches are ranked and counted. */
const MOST_RANKED = 20_000;
/** Milliseconds that one process waits for another that writes. */
const BUSY = 10_000;
/** Another number: indexes of other versions are made anew. */
const VERSION = 2;

/*
 * The words are fed as this package cuts them, with spaces between: so a query and a text are cut alike, whatever letters
 * SQLite knows. The index holds no texts (`content=''`): what is shown comes from the log, which is checked.
 */
const TABLES = `
  CREATE TABLE histories (number INTEGER PRIMARY KEY, history TEXT NOT NULL UNIQUE);
  CREATE TABLE documents (
    number INTEGER PRIMARY KEY, history INTEGER NOT NULL, branch INTEGER NOT NULL, seq INTEGER NOT NULL,
    event INTEGER NOT NULL, part INTEGER NOT NULL, kind TEXT NOT NULL, role TEXT, at INTEGER NOT NULL
  );
  CREATE VIRTUAL TABLE words USING fts5 (text, ids, content='', tokenize='ascii');
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
 * @throws E_IO, E_SEARCH_BUSY
 */
export const openIndexFile = async (directory: string, damaged: () => void): Promise<IndexFile> => {
  // Loaded when somebody searches: it takes longer than the rest of a command's start.
  const { DatabaseSync } = await import('node:sqlite');
  try {
    return open(DatabaseSync, directory);
  } catch (error) {
    if (!isDamage(error)) throw toStemmaError(error);
    if (!(error instanceof Outdated)) damaged();
    removeIndex(directory);
    try {
      return open(DatabaseSync, directory);
    } catch (again) {
      throw toStemmaError(again);
    }
  }
};

const open = (Database: Sqlite, directory: string): IndexFile => {
  const folder = folderOf(directory);
  makeFolder(folder);
  const path = join(folder, FILE);
  // SQLite would make it readable for others. Closed after SQLite has closed it: closing it sooner would end SQLite's locks.
  const file = openSync(path, 'a+', 0o600);
  let database: DatabaseSync | undefined;
  try {
    chmodSync(path, 0o600);
    const sum = openFileSum(path, file);
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
      sum.begin();
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
    'INSERT INTO documents (history, branch, seq, event, part, kind, role, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const putWords = database.prepare('INSERT INTO words (rowid, text, ids) VALUES (?, ?, ?)');
  const cursorNow = (): string | null => (readCursor.get() as { cursor: string | null }).cursor;
  const historyNumber = (history: string): number => {
    putHistory.run(history);
    return (numberOf.get(history) as { number: number }).number;
  };
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
          sum.begin();
          for (const each of documents) {
            const { lastInsertRowid } = putDocument.run(
              historyNumber(each.history),
              each.branchId,
              each.seq,
              each.index,
              each.part,
              each.kind,
              each.role,
              each.at,
            );
            putWords.run(lastInsertRowid, wordsIn(each.text), wordsIn(each.ids));
          }
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
        const [condition, values] = conditionOf(filter);
        const where = `words MATCH ? ${condition}`;
        const from = 'FROM words JOIN documents d ON d.number = words.rowid';
        const match = matchOf(terms);
        // Where nothing but words is asked for, no document is looked at to count.
        const counted = condition === '' ? 'FROM words' : from;
        const { count } = database
          .prepare(
            `SELECT count(*) AS count FROM (SELECT 1 ${counted} WHERE ${where} LIMIT ${MOST_RANKED + 1})`,
          )
          .get(match, ...values) as { count: number };
        const ranked = count <= MOST_RANKED;
        // An id that is looked for counts more than a text that has it too.
        // The index itself goes from the newest to the oldest: what is not ranked need not be sorted.
        const order = ranked ? 'bm25(words, 1.0, 4.0), words.rowid DESC' : 'words.rowid DESC';
        const rows = database
          .prepare(
            `SELECT (SELECT history FROM histories h WHERE h.number = d.history) AS history, d.branch AS branchId,
             d.seq AS seq, d.event AS "index", d.part AS part ${from} WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
          )
          .all(match, ...values, limit, skip) as unknown as FoundDocument[];
        return { documents: rows.map((row) => ({ ...row })), total: Math.min(count, MOST_RANKED), ranked };
      }),
    settle: () => guarded(() => settle(false)),
    close: () => {
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

const wordsIn = (text: string): string =>
  wordsOf(text)
    .map(({ word }) => word)
    .join(' ');

/** The terms in the language of FTS5: its operators stand in no word, and every phrase in quotation marks. */
const matchOf = (terms: readonly Term[]): string => {
  const phrase = ({ words, prefix }: Term): string => `"${words.join(' ')}"${prefix ? ' *' : ''}`;
  const wanted = terms.filter(({ not }) => !not).map(phrase);
  const unwanted = terms.filter(({ not }) => not).map(phrase);
  return `(${wanted.join(' AND ')})${unwanted.map((each) => ` NOT ${each}`).join('')}`;
};

const conditionOf = (filter: IndexFilter): readonly [sql: string, values: readonly (string | number)[]] => {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const put = (sql: string, ...given: readonly (string | number)[]): void => {
    conditions.push(`AND ${sql}`);
    values.push(...given);
  };
  const { history, path, kind, role, since, until } = filter;
  if (history !== undefined) put('d.history = (SELECT number FROM histories WHERE history = ?)', history);
  if (path !== undefined)
    put(
      `(${path.map(() => '(d.branch = ? AND d.seq <= ?)').join(' OR ') || '0'})`,
      ...path.flatMap(({ branchId, limit }) => [branchId, limit]),
    );
  if (kind !== undefined) put('d.kind = ?', kind);
  if (role !== undefined) put('d.role = ?', role);
  if (since !== undefined) put('d.at >= ?', since);
  if (until !== undefined) put('d.at <= ?', until);
  return [conditions.join(' '), values];
};

/** SQLite's result codes: https://sqlite.org/rescode.html */
const SQLITE = { busy: 5, corrupt: 11, notADatabase: 26 } as const;

const codeOf = (error: unknown): number =>
  Number((error as { readonly errcode?: unknown } | null)?.errcode ?? NaN) & 0xff;

/** True if the file is not what this package wrote: it is made anew. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Outdated ||
  error instanceof Altered ||
  codeOf(error) === SQLITE.corrupt ||
  codeOf(error) === SQLITE.notADatabase ||
  // Tables that are missing, or have other columns.
  /no such (table|column)|malformed/u.test(error instanceof Error ? error.message : '');

const toStemmaError = (error: unknown): unknown => {
  if (isDamage(error) || !(error instanceof Error) || !('errcode' in error || 'syscall' in error))
    return error;
  return codeOf(error) === SQLITE.busy
    ? fail('E_SEARCH_BUSY', 'another process writes the index of the search')
    : fail('E_IO', `the index of the search: ${error.message}`);
};
