import { bytesIn, joinBytes } from '@stemma/canonical';
import { bootId, beganAt, isAlive, makeFolder, openFileHandle, readRegularFile } from '@stemma/machine';
import { fail } from '@stemma/errors';
import { readdir, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeEntry, encodeEntry, type ProxyEntry } from './entry.ts';

/** Where an entry stands: in a file, or in memory where nothing may be written that has secrets. */
export type EntryRef =
  { readonly file: string; readonly at: number; readonly length: number } | { readonly bytes: Uint8Array };

/** An entry that is not recorded yet. */
export type Waiting = { readonly kind: 'started' | 'ended'; readonly id: string; readonly ref: EntryRef };

/** One that was noted just now, and the entry itself: who records it at once need not read it. */
export type Noted = Waiting & { readonly bytes: readonly Uint8Array[] };

/**
 * Calls on their way into the log, in the order they were made. What was noted survives the end of the process; what is recorded is deleted with its
 * file, when all else in it is recorded too.
 */
export type CallJournal = {
  /** Notes an entry. @returns undefined if there is no room, or it cannot be written: the call goes on unrecorded */
  append(
    entry: ProxyEntry & { readonly kind: 'started' | 'ended' },
    body: readonly Uint8Array[],
  ): Promise<Noted | undefined>;
  /** The entry needs no more room. */
  done(waiting: Waiting): void;
  /** Bytes of entries that are not recorded yet. */
  readonly size: () => number;
  /** Resolves when everything is on the disk that was noted. */
  close(): Promise<void>;
};

export type JournalOptions = {
  readonly directory: string;
  /** The most bytes that wait. */
  readonly limit: number;
  /** True: entries stay in memory. */
  readonly inMemory: boolean;
  readonly warn: (sentence: string) => void;
};

/** A file of this size is not written any further. */
const FILE_SIZE = 16 * 1024 * 1024;
/** An entry may be larger than a file is when it begins. */
const MOST_LEFT = 2 ** 30;

/** An entry counts as so many bytes at least: to know of it takes a quarter of a KiB of memory, however small it is. */
const LEAST = 4 * 1024;

/** Bytes after which entries are not written together with more. */
const TOGETHER = 1024 * 1024;

/** An entry that is to be written, and who waits for that. */
type Unwritten = {
  readonly pieces: readonly Buffer[];
  readonly length: number;
  /** True if it says of another one that it is recorded. */
  readonly isDone: boolean;
  readonly written: (ref: EntryRef) => void;
  readonly failed: (error: unknown) => void;
};

type Segment = { readonly path: string; readonly handle: FileHandle; size: number; waiting: number };

/** The name of a file says which process writes it. */
const nameOf = (number: number): string =>
  `${process.pid}-${beganAt(process.pid) ?? '0'}-${bootId()}-${number}.calls`;

const OWNED = /^(\d+)-(\d+)-([\w-]+?)-(\d+)\.calls$/;

/** Opens the journal of this process, and reads what earlier ones left in the directory. */
export const openJournal = async (
  options: JournalOptions,
): Promise<{ readonly journal: CallJournal; readonly left: readonly Waiting[] }> => {
  const { directory, limit, inMemory, warn } = options;
  const folder = join(directory, 'calls');
  makeFolder(folder);
  const files = await abandonedFiles(folder);
  const damaged = new Set<string>();
  const left = await readLeftOver(files, (file, reason) => {
    damaged.add(file);
    warn(`${file}: ${reason}; what comes after is not recorded, and the file is kept as ${file}.damaged`);
  });
  const remove = async (file: string): Promise<void> => {
    await unlessGone(damaged.has(file) ? rename(file, `${file}.damaged`) : unlink(file));
  };
  const known = new Map<string, number>();
  for (const { ref } of left) if ('file' in ref) known.set(ref.file, (known.get(ref.file) ?? 0) + 1);
  await Promise.all(files.filter((file) => !known.has(file)).map(remove));

  let size = left.reduce((sum, { ref }) => sum + lengthOf(ref), 0);
  let entries = left.length;
  let number = 0;
  let current: Segment | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  const segments = new Map<string, Segment>();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = tail.then(act);
    tail = done.catch(() => undefined);
    return done;
  };
  const retire = async (segment: Segment): Promise<void> => {
    segments.delete(segment.path);
    await segment.handle.close();
    await unlink(segment.path);
  };
  const segmentFor = async (): Promise<Segment> => {
    if (current !== undefined && current.size < FILE_SIZE) return current;
    const full = current;
    const path = join(folder, nameOf(number++));
    // The bodies of calls are for their owner alone.
    current = { path, handle: await openFileHandle(path, 'new'), size: 0, waiting: 0 };
    segments.set(path, current);
    if (full?.waiting === 0) await retire(full);
    return current;
  };
  /** Writes entries, one behind the other. @returns where each begins */
  const write = async (entries: readonly Unwritten[]): Promise<readonly EntryRef[]> => {
    const segment = await segmentFor();
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
  };
  /** Writes entries together; where that fails, each for itself, so that none keeps the others from being noted. */
  const writeEach = async (entries: readonly Unwritten[]): Promise<void> => {
    try {
      const refs = await write(entries);
      for (const [i, { written }] of entries.entries()) written(refs[i] as EntryRef);
    } catch (error) {
      if (entries.length === 1) entries[0]?.failed(error);
      else for (const entry of entries) await writeEach([entry]);
    }
  };
  /** Entries that wait until those before them are written, and those that were recorded meanwhile. */
  let unwritten: Unwritten[] = [];
  let recorded: Waiting[] = [];
  const warnOf = (error: unknown): void => warn(`the calls that wait cannot be noted: ${String(error)}`);
  /** Writes what waits, in few pieces: a write costs about as much for many entries as for one. */
  const flush = async (): Promise<void> => {
    const [entries, finished] = [unwritten, recorded];
    [unwritten, recorded] = [[], []];
    const dones = await forget(finished);
    let [together, bytes]: [Unwritten[], number] = [[], 0];
    for (const entry of [...dones, ...entries]) {
      together.push(entry);
      bytes += entry.length;
      if (bytes < TOGETHER) continue;
      await writeEach(together);
      [together, bytes] = [[], 0];
    }
    if (together.length > 0) await writeEach(together);
  };
  const flushSoon = (): void => {
    if (unwritten.length + recorded.length === 1) void inTurn(flush);
  };
  /** Files in which nothing waits any more begin anew or go. @returns what says of the other entries that they are recorded */
  const forget = async (finished: readonly Waiting[]): Promise<readonly Unwritten[]> => {
    const files = Map.groupBy(finished, ({ ref }) => ('file' in ref ? ref.file : null));
    const dones: Unwritten[] = [];
    for (const [file, gone] of files)
      try {
        if (file !== null) dones.push(...(await forgetIn(file, gone)));
      } catch (error) {
        warnOf(error);
      }
    return dones;
  };
  const forgetIn = async (file: string, gone: readonly Waiting[]): Promise<readonly Unwritten[]> => {
    const segment = segments.get(file);
    if (segment === undefined) {
      const rest = (known.get(file) ?? gone.length) - gone.length;
      known.set(file, rest);
      if (rest === 0) await remove(file);
      return [];
    }
    segment.waiting -= gone.length;
    if (segment.waiting > 0) return gone.map(doneOf);
    if (segment !== current) await retire(segment);
    else {
      segment.size = 0;
      await segment.handle.truncate(0);
    }
    return [];
  };
  const doneOf = ({ id, kind }: Waiting): Unwritten => {
    const pieces = encodeEntry({ kind: 'done', id, what: kind });
    return { pieces, length: bytesIn(pieces), isDone: true, written: () => undefined, failed: warnOf };
  };
  const note = (pieces: readonly Buffer[]): Promise<EntryRef> =>
    new Promise((written, failed) => {
      unwritten.push({ pieces, length: bytesIn(pieces), isDone: false, written, failed });
      flushSoon();
    });
  const journal: CallJournal = {
    size: () => size,
    append: async (entry, body) => {
      const length = bytesIn(body);
      if (Math.max(size + length, (entries + 1) * LEAST) > limit) return undefined;
      size += length;
      entries++;
      try {
        const bytes = encodeEntry(entry, body);
        const ref = inMemory ? { bytes: joinBytes(bytes) } : await note(bytes);
        size += lengthOf(ref) - length;
        return { kind: entry.kind, id: entry.id, ref, bytes };
      } catch (error) {
        size -= length;
        entries--;
        warn(`a call cannot be noted: ${String(error)}`);
        return undefined;
      }
    },
    done: (waiting) => {
      size -= lengthOf(waiting.ref);
      entries--;
      if ('bytes' in waiting.ref) return;
      recorded.push(waiting);
      flushSoon();
    },
    close: async () => {
      await tail;
      await Promise.all(
        [...segments.values()].map((segment) =>
          segment.waiting === 0 ? retire(segment) : segment.handle.close(),
        ),
      );
    },
  };
  return { journal, left };
};

const lengthOf = (ref: EntryRef): number => ('bytes' in ref ? ref.bytes.length : ref.length);

/** Undefined for a file that is not there any more: another process that began with this one has recorded what was in it. */
const unlessGone = async <T>(act: Promise<T>): Promise<T | undefined> => {
  try {
    return await act;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** The files whose process has ended, the oldest first. */
const abandonedFiles = async (folder: string): Promise<string[]> => {
  const found: { readonly path: string; readonly at: number; readonly number: number }[] = [];
  for (const name of await readdir(folder)) {
    const [, pid, began, boot, number] = OWNED.exec(name) ?? [];
    if (pid === undefined) continue;
    const isOfThisBoot = boot === bootId();
    if (isOfThisBoot && isAlive(Number(pid), began === '0' ? undefined : began)) continue;
    const path = join(folder, name);
    const stats = await unlessGone(stat(path));
    // A pipe would never be read to its end.
    if (stats?.isFile() === true) found.push({ path, at: stats.mtimeMs, number: Number(number) });
  }
  return found.sort((a, b) => a.at - b.at || a.number - b.number).map(({ path }) => path);
};

const readLeftOver = async (
  files: readonly string[],
  damaged: (file: string, reason: string) => void,
): Promise<Waiting[]> => {
  const waiting = new Map<string, Waiting>();
  for (const file of files) {
    const bytes = await unlessGone(Promise.resolve(file).then((path) => readRegularFile(path, MOST_LEFT)));
    if (bytes === undefined) continue;
    try {
      for (let at = 0; ;) {
        const read = decodeEntry(bytes, at);
        // The process ended while it wrote the last one.
        if (read === undefined) break;
        const { entry, next } = read;
        if (entry.kind === 'done') waiting.delete(`${entry.what} ${entry.id}`);
        else {
          const ref = { file, at, length: next - at };
          waiting.set(`${entry.kind} ${entry.id}`, { kind: entry.kind, id: entry.id, ref });
        }
        at = next;
      }
    } catch (error) {
      damaged(file, error instanceof Error ? error.message : String(error));
    }
  }
  return [...waiting.values()];
};
