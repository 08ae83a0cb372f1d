import { bytesIn } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { openFileHandle } from '@stemma/machine';
import { unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { bodyAt, PREFIX, type EntryRef } from './entry.ts';
import { entriesFile } from './journal-names.ts';

/** A file of this size is not written any further. */
const FILE_SIZE = 16 * 1024 * 1024;

/** An entry that is to be written, and who waits for that. */
export type Unwritten = {
  readonly pieces: readonly Buffer[];
  readonly length: number;
  /** True if it says of another one that it is recorded. */
  readonly isDone: boolean;
  readonly written: (ref: EntryRef) => void;
  readonly failed: (error: unknown) => void;
};

type FileRef = Extract<EntryRef, { file: string }>;

/** A file of the journal. */
export type JournalSegment = {
  readonly path: string;
  readonly handle: FileHandle;
  size: number;
  waiting: number;
  /** Entries that are recorded, as the file says, and whose bodies are still there. */
  finished: FileRef[];
  /** How often the file began anew: then what stood where means nothing. */
  begun: number;
};

export const unwrittenOf = (
  pieces: readonly Buffer[],
  rest: Omit<Unwritten, 'pieces' | 'length'>,
): Unwritten => ({ pieces, length: bytesIn(pieces), ...rest });

/** The files that this process writes, one after the other. Each goes when all entries in it are recorded. */
export class JournalSegments {
  readonly #folder: string;
  readonly #segments = new Map<string, JournalSegment>();
  #current: JournalSegment | undefined;
  #made = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get(file: string): JournalSegment | undefined {
    return this.#segments.get(file);
  }

  all(): readonly JournalSegment[] {
    return [...this.#segments.values()];
  }

  /** True if what is written next goes into this file. */
  isWritten(segment: JournalSegment): boolean {
    return segment === this.#current && segment.size < FILE_SIZE;
  }

  /** Writes entries together; where that fails, each for itself, so that none keeps the others from being noted. */
  async write(entries: readonly Unwritten[], given?: JournalSegment): Promise<void> {
    try {
      const refs = await this.#writeTogether(entries, given ?? (await this.#segmentToWrite()));
      for (const [i, { written }] of entries.entries()) written(refs[i] as EntryRef);
    } catch (error) {
      if (entries.length === 1) entries[0]?.failed(error);
      else for (const entry of entries) await this.write([entry], given);
    }
  }

  /** Nothing waits any more in a file: it begins anew, or goes. */
  async empty(segment: JournalSegment): Promise<void> {
    if (segment !== this.#current) return this.#remove(segment);
    segment.size = 0;
    segment.finished = [];
    segment.begun++;
    await segment.handle.truncate(0);
  }

  /** Overwrites bodies that are recorded, when what says so of them is on the disk. @param inTurn has nothing written meanwhile */
  async blank(segment: JournalSegment, inTurn: <T>(act: () => Promise<T>) => Promise<T>): Promise<void> {
    const { finished, handle, begun } = segment;
    if (finished.length === 0) return;
    segment.finished = [];
    // A file that is closed meanwhile is gone.
    const isSynced = await handle.datasync().then(
      () => true,
      () => false,
    );
    if (!isSynced) return;
    await inTurn(async () => {
      if (this.get(segment.path) !== segment || segment.begun !== begun) return;
      for (const { at, length } of finished) await blankBody(handle, at, length);
    });
  }

  async close(): Promise<void> {
    const open = this.all();
    this.#segments.clear();
    await Promise.all(
      open.map((segment) => (segment.waiting === 0 ? this.#remove(segment) : segment.handle.close())),
    );
  }

  async #segmentToWrite(): Promise<JournalSegment> {
    if (this.#current !== undefined && this.#current.size < FILE_SIZE) return this.#current;
    const full = this.#current;
    const path = join(this.#folder, entriesFile(this.#made++));
    // The bodies of calls are for their owner alone.
    const handle = await openFileHandle(path, 'new');
    const segment: JournalSegment = { path, handle, size: 0, waiting: 0, finished: [], begun: 0 };
    this.#current = segment;
    this.#segments.set(path, segment);
    if (full?.waiting === 0) await this.#remove(full);
    return segment;
  }

  async #remove(segment: JournalSegment): Promise<void> {
    this.#segments.delete(segment.path);
    await segment.handle.close();
    await unlink(segment.path);
  }

  /** @returns where each begins */
  async #writeTogether(entries: readonly Unwritten[], segment: JournalSegment): Promise<readonly EntryRef[]> {
    const at = segment.size;
    const refs: EntryRef[] = [];
    for (const { length } of entries) {
      refs.push({ file: segment.path, at: segment.size, length });
      segment.size += length;
    }
    try {
      const { bytesWritten } = await segment.handle.writev(
        entries.flatMap(({ pieces }) => pieces),
        at,
      );
      if (bytesWritten !== segment.size - at) throw fail('E_IO', 'not all of it could be written');
    } catch (error) {
      // What came of them is written over by the next ones.
      segment.size = at;
      await segment.handle.truncate(at).catch(() => undefined);
      throw error;
    }
    segment.waiting += entries.filter(({ isDone }) => !isDone).length;
    return refs;
  }
}

/** Overwrites the body of an entry; its lengths and its head stay, which say whose it was. */
const blankBody = async (handle: FileHandle, at: number, length: number): Promise<void> => {
  const { buffer: prefix } = await handle.read(Buffer.alloc(PREFIX), 0, PREFIX, at);
  for (let from = bodyAt(prefix, 0); from < length; from += ZEROS.length)
    await handle.write(ZEROS, 0, Math.min(ZEROS.length, length - from), at + from);
};

const ZEROS = Buffer.alloc(64 * 1024);
