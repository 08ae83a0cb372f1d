import { isStemmaError, reasonOf } from '@stemma/errors';
import {
  findSnapshot,
  positionOfFrame,
  readAncestorPath,
  readTipSeq,
  type BranchRef,
} from '@stemma/history-store';
import type { EventLog } from '@stemma/log';
import type { Projection } from '@stemma/projector';
import { readAccepted, type EventBatch } from '@stemma/queries';
import { findBranch, findFrameSummary, findHistory } from '@stemma/read-models';
import { millisecondsOf } from '@stemma/values';
import { documentsOf, type DocumentKind, type SearchDocument } from './documents.ts';
import { isDamage, isOutOfRoom, openIndexFile, removeIndex, type IndexFile } from './index-file.ts';
import type { FoundDocument, IndexedDocument, IndexFilter } from './indexed.ts';
import { excerptOf, parseQuery, type MarkedExcerpt, type Term } from './words.ts';

export type SearchQuery = {
  /** Words, `"a phrase"`, `begin*`, `-not`. */
  readonly text: string;
  /** Only the history or branch of this name: of a history all of its branches, of a branch (`H:B`) its ancestor path. */
  readonly within?: { readonly name: string; readonly branchRef: BranchRef } | undefined;
  /** Only histories with these ids. */
  readonly among?: readonly string[] | undefined;
  readonly kind?: DocumentKind | undefined;
  readonly role?: string | undefined;
  /** Milliseconds since 1970, both included. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Default 0 and 20. */
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
};

export type SearchHit = {
  readonly history: string;
  /** The name of the history. */
  readonly name: string | null;
  readonly branch: string;
  readonly branchId: number;
  readonly seq: number;
  readonly index: number;
  readonly kind: DocumentKind;
  readonly node: string | null;
  readonly role: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The position from which on it stands there: `@s12`, or `@c3` at a commit. */
  readonly label: string;
  /** The first call that could show it, `@c4`; null: there is none yet. */
  readonly call: string | null;
  /** True: a rollback of its branch left it behind. */
  readonly abandoned: boolean;
  readonly excerpt: MarkedExcerpt;
};

export type SearchAnswer = {
  readonly hits: readonly SearchHit[];
  /** All that match, counted up to 20,000. */
  readonly total: number;
  /** True: more than `total` match. */
  readonly more: boolean;
  /** False: too many texts match, or have all of the words, to compare them, so the newest come first. */
  readonly ranked: boolean;
};

/** Finds texts in all histories. */
export type Search = {
  /** @throws E_SEARCH_INVALID, E_SEARCH_BUSY, E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND, E_IO */
  readonly find: (query: SearchQuery) => Promise<SearchAnswer>;
  /** The ids of the histories in which a text stands, or stood. @throws E_SEARCH_INVALID, E_SEARCH_BUSY, E_IO */
  readonly historiesWith: (text: string) => Promise<ReadonlySet<string>>;
  /** Reads what is new in the log into the index. */
  readonly catchUp: () => Promise<void>;
  /** Forgets all texts, as after an erasure: the next search reads the log again. */
  readonly forget: () => void;
  readonly close: () => void;
};

/** So many documents are put into the index at a time, or so many UTF-16 units of text. */
const BATCH = { documents: 500, units: 4_000_000 };

/**
 * The search of a home. The index is a file in its directory, folded from the log with a cursor of its own when somebody
 * searches; it may be deleted at any time. It only names places: texts come from frames whose hashes are checked.
 *
 * @param erased gives how many histories are erased.
 * @param say is told that the index was damaged.
 */
export const openSearch = (
  log: EventLog,
  projection: Projection,
  directory: string,
  erased: () => number,
  say: (text: string) => void,
): Search => {
  const damaged = (): void => say('the index of the search was damaged; it is made anew from the log');
  let opened: Promise<IndexFile> | undefined;
  let reading: Promise<void> | undefined;
  /** The disk has no room for what is new. */
  let isBehind = false;
  const open = (): Promise<IndexFile> => {
    const opening = (opened ??= openIndexFile(directory, damaged));
    opening.catch(() => (opened = undefined));
    return opening;
  };
  const close = (): void => {
    void opened?.then(
      (file) => file.close(),
      () => undefined,
    );
    opened = undefined;
  };
  const forget = (): void => {
    close();
    removeIndex(directory);
  };
  /** Once more on a new index, if this one turns out to be damaged. */
  const withIndex = async <T>(act: (file: IndexFile) => T | Promise<T>): Promise<T> => {
    try {
      return await act(await open());
    } catch (error) {
      if (!isDamage(error)) throw error;
      damaged();
      forget();
      return await act(await open());
    }
  };
  const readLog = (): Promise<void> =>
    withIndex(async (file) => {
      for (;;) {
        // An index that took in what was erased since must not stay; a new one can read nothing of it.
        const erasures = erased();
        const before = file.cursor();
        const isOld = before !== null && before.split(' ')[0] !== String(erasures);
        try {
          if (!isOld && (await readInto(file, log, projection, erasures))) return;
        } catch (error) {
          // Another log, or one that lost its end: the index is not of it.
          if (before === null || !isStemmaError(error, 'E_STREAM_GONE')) throw error;
          forget();
        }
        if (isOld) forget();
        file = await open();
      }
    });
  /** Those that search at one moment read the log once. */
  const catchUp = (): Promise<void> => {
    reading ??= readLog().finally(() => (reading = undefined));
    return reading;
  };
  /** An index that read a part of the log finds that part while the disk has no room for the rest. */
  const catchUpWithRoom = async (): Promise<void> => {
    try {
      await catchUp();
      isBehind = false;
    } catch (error) {
      if (!isOutOfRoom(error) || !(await hasRead())) throw error;
      if (!isBehind) say(`${reasonOf(error)}: searches leave out what was recorded since`);
      isBehind = true;
    }
  };
  const hasRead = async (): Promise<boolean> => (await open()).cursor()?.split(' ')[0] === String(erased());
  return {
    catchUp,
    forget,
    close,
    historiesWith: async (text) => {
      const terms = parseQuery(text);
      await reading?.catch(() => undefined);
      await catchUpWithRoom();
      return new Set(await withIndex((file) => file.historiesWith(terms)));
    },
    find: async (query) => {
      const terms = parseQuery(query.text);
      const { skip = 0, limit = 20 } = query;
      // A search that begins while another one reads may be about what that one does not read any more.
      await reading?.catch(() => undefined);
      await catchUpWithRoom();
      const filter = await filterOf(projection, query);
      const findHits = async () => {
        const found = await withIndex((file) => file.find(terms, filter, { skip, limit }));
        // At once: with rows in a database each waits for several answers of it.
        const hits = await Promise.all(found.documents.map((each) => hitOf(projection, each, terms)));
        return { found, hits: hits.filter((hit) => hit !== undefined) };
      };
      const answer = await findHits().catch(async (error: unknown) => {
        // The log lost a frame that the index has read: a new one knows what is left.
        if (!isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
        forget();
        await catchUp();
        return findHits();
      });
      (await open()).checkLater(() => {
        damaged();
        forget();
      });
      const { found, hits } = answer;
      return { hits, total: found.total, more: found.more, ranked: found.ranked };
    },
  };
};

const filterOf = async (
  projection: Projection,
  { within, among, kind, role, since, until }: SearchQuery,
): Promise<IndexFilter> => {
  const { history, branchId } = within?.branchRef ?? {};
  const path =
    history === undefined || branchId === undefined || within?.name.includes(':') !== true
      ? undefined
      : await projection.read((rows) =>
          readAncestorPath(rows, history, branchId, readTipSeq(rows, history, branchId)),
        );
  return { history, path, among, kind, role, since, until };
};

/** Reads the log from the cursor of the index to its end. False if another process read it meanwhile: begin again. */
const readInto = async (
  file: IndexFile,
  log: EventLog,
  projection: Projection,
  erasures: number,
): Promise<boolean> => {
  let expected = file.cursor();
  let pending: IndexedDocument[] = [];
  let units = 0;
  const flush = (place: string): boolean => {
    const next = `${erasures} ${place}`;
    if (next === expected) return true;
    if (!file.add(pending, expected, next)) return false;
    [expected, pending, units] = [next, [], 0];
    return true;
  };
  let place = expected?.split(' ')[1];
  for await (const batch of readAccepted(log, projection, place)) {
    for (const document of documentsIn(batch)) {
      pending.push(document);
      units += document.text.length;
    }
    place = batch.cursor;
    if ((pending.length >= BATCH.documents || units >= BATCH.units) && !flush(place)) return false;
  }
  return place === undefined || flush(place);
};

const documentsIn = ({ events }: EventBatch): readonly IndexedDocument[] =>
  events.flatMap(({ history, branchId, seq, index, at, event }) =>
    documentsOf(event).map(({ kind, role, text, ids }, part) => ({
      history,
      branchId,
      seq,
      index,
      part,
      kind,
      role,
      at,
      text,
      ids,
    })),
  );

/** What the log says at the place; undefined if nobody can read it any more. */
const hitOf = async (
  projection: Projection,
  { history, seq, index, part }: FoundDocument,
  terms: readonly Term[],
): Promise<SearchHit | undefined> => {
  let document: SearchDocument | undefined;
  try {
    const event = (await projection.payloads.events(history, seq))[index];
    document = event === undefined ? undefined : documentsOf(event)[part];
  } catch (error) {
    if (!isStemmaError(error, 'E_HISTORY_ERASED') && !isStemmaError(error, 'E_HISTORY_SEALED')) throw error;
  }
  if (document === undefined) return undefined;
  const { kind, node, role, text, ids } = document;
  return projection.read((rows) => {
    const { branchId, at } = findFrameSummary(rows, history, seq);
    const { branch, label, cycle, committed } = positionOfFrame(rows, history, branchId, seq);
    const shown = committed ? (cycle ?? 0) : (cycle ?? 0) + 1;
    const snapshot = findSnapshot(rows, history, branchId, readTipSeq(rows, history, branchId), shown);
    return {
      history,
      name: findHistory(rows, history)?.name ?? null,
      branch,
      branchId,
      seq,
      index,
      kind,
      node,
      role,
      at: millisecondsOf(at),
      label,
      call: snapshot === undefined ? null : `@c${shown}`,
      abandoned: isAbandoned(rows, history, branchId, seq),
      excerpt: excerptOf(text === '' ? ids : text, terms),
    };
  });
};

type Rows = Parameters<typeof findBranch>[0];

/** True if the branch was rolled back, and the one that goes on does not have the frame. */
const isAbandoned = (rows: Rows, history: string, branchId: number, seq: number): boolean => {
  const successor = (of: number): number | null => findBranch(rows, history, of)?.abandonedBy ?? null;
  let last = branchId;
  for (let next = successor(last); next !== null; next = successor(next)) last = next;
  if (last === branchId) return false;
  const path = readAncestorPath(rows, history, last, readTipSeq(rows, history, last));
  return !path.some((segment) => segment.branchId === branchId && seq <= segment.limit);
};
