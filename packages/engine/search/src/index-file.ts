import { fail, isStemmaError } from '@stemma/errors';
import { isIrregular, makeFolder, openRegularFile, refuseIrregular } from '@stemma/machine';
import { chmodSync, closeSync, fstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openFileSum, type FileSum } from './file-sum.ts';
import { openFindDocuments, openHistoriesWith, type FindDocuments } from './find-documents.ts';
import { branchTag, historyTag, kindTag, roleTag, wordsIn } from './index-words.ts';
import type { IndexedDocument } from './indexed.ts';
import type { Term } from './words.ts';

/** The index in a file. */
export type IndexFile = {
  /** How far it has read the log; null: it has read nothing. */
  readonly cursor: () => string | null;
  /** Adds documents and moves the cursor, both or neither. False if the cursor is not the expected one any more. */
  readonly add: (documents: readonly IndexedDocument[], expected: string | null, cursor: string) => boolean;
  readonly find: FindDocuments;
  /** The histories of which a document has all of the terms. */
  readonly historiesWith: (terms: readonly Term[]) => readonly string[];
  /** Notes the checksum of the file, if that is due after `add`. */
  readonly settle: () => void;
  /**
   * What an answer need not wait for: `settle`, and reading the whole file if this process has not yet, a piece at a time. Tells if
   * it is not as it was left. Ends with `close`.
   */
  readonly checkLater: (altered: () => void) => void;
  readonly close: () => void;
};

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
  const find = openFindDocuments(database);
  const historiesWith = openHistoriesWith(database);
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
    find: (terms, filter, page) => guarded(() => find(terms, filter, page)),
    historiesWith: (terms) => guarded(() => historiesWith(terms)),
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
