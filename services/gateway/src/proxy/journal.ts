import { bytesIn, joinBytes } from '@stemma/canonical';
import { beganAt, bootId, makeFolder, openFileHandle } from '@stemma/machine';
import { fail } from '@stemma/errors';
import { rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { bodyAt, encodeEntry, PREFIX, type EntryRef, type ProxyEntry, type Waiting } from './entry.ts';
import { abandonedFiles, readLeftOver, unlessGone } from './left-over.ts';

/** One that was noted just now, and the entry itself: who records it at once need not read it. */
export type Noted = Waiting & { readonly bytes: readonly Uint8Array[] };

/**
 * Calls on their way into the log, in the order they were made. What was noted survives the end of the process; what is recorded is deleted with its
 * file, when all else in it is recorded too. Where something else waits longer, its bytes are overwritten.
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
  /** Milliseconds after which a body that is recorded is overwritten, if its file is still there; default 2,000. */
  readonly blankAfter?: number;
  readonly warn: (sentence: string) => void;
};

/** Most files are gone by then: each call in them is recorded. */
const BLANK_AFTER = 2_000;

/** A file of this size is not written any further. */
const FILE_SIZE = 16 * 1024 * 1024;

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

type FileRef = Extract<EntryRef, { file: string }>;

type Segment = {
  readonly path: string;
  readonly handle: FileHandle;
  size: number;
  waiting: number;
  /** Entries that are recorded, as the file says, and whose bodies are still there. */
  finished: FileRef[];
  /** How often the file began anew: then what stood where means nothing. */
  begun: number;
};

/** The name of a file says which process writes it. */
const nameOf = (number: number): string =>
  `${process.pid}-${beganAt(process.pid) ?? '0'}-${bootId()}-${number}.calls`;

/** Opens the journal of this process, and reads what earlier ones left in the directory. */
export const openJournal = async (
  options: JournalOptions,
): Promise<{ readonly journal: CallJournal; readonly left: readonly Waiting[] }> => {
  const { directory, limit, inMemory, warn, blankAfter = BLANK_AFTER } = options;
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
    current = {
      path,
      handle: await openFileHandle(path, 'new'),
      size: 0,
      waiting: 0,
      finished: [],
      begun: 0,
    };
    segments.set(path, current);
    if (full?.waiting === 0) await retire(full);
    return current;
  };
  /** Writes entries, one behind the other. @returns where each begins */
  const write = async (entries: readonly Unwritten[], given?: Segment): Promise<readonly EntryRef[]> => {
    const segment = given ?? (await segmentFor());
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
  const writeEach = async (entries: readonly Unwritten[], given?: Segment): Promise<void> => {
    try {
      const refs = await write(entries, given);
      for (const [i, { written }] of entries.entries()) written(refs[i] as EntryRef);
    } catch (error) {
      if (entries.length === 1) entries[0]?.failed(error);
      else for (const entry of entries) await writeEach([entry], given);
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
  /** Files in which nothing waits any more begin anew or go. @returns what the current file says of the other entries: they are recorded */
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
    if (segment.waiting > 0) {
      const dones = gone.map((each) => doneOf(each, segment));
      // In the file of the entry: whoever finds its body overwritten finds there that it is recorded.
      if (segment === current && segment.size < FILE_SIZE) return dones;
      await writeEach(dones, segment);
      return [];
    }
    if (segment !== current) await retire(segment);
    else {
      segment.size = 0;
      segment.finished = [];
      segment.begun++;
      await segment.handle.truncate(0);
    }
    return [];
  };
  const doneOf = ({ id, kind, ref }: Waiting, segment: Segment): Unwritten => {
    const pieces = encodeEntry({ kind: 'done', id, what: kind });
    const written = (): void => {
      if ('file' in ref) segment.finished.push(ref);
      blanking ??= setTimeout(() => void blankAll(), blankAfter);
    };
    return { pieces, length: bytesIn(pieces), isDone: true, written, failed: warnOf };
  };
  let blanking: NodeJS.Timeout | undefined;
  const blankAll = async (): Promise<void> => {
    blanking = undefined;
    for (const segment of segments.values()) await blank(segment).catch(warnOf);
  };
  /** Overwrites bodies that are recorded, when what says so of them is on the disk. */
  const blank = async (segment: Segment): Promise<void> => {
    const { finished, handle, begun } = segment;
    if (finished.length === 0) return;
    segment.finished = [];
    // A file that is closed meanwhile is gone.
    const isSynced = await handle.datasync().then(
      () => true,
      () => false,
    );
    if (isSynced)
      await inTurn(async () => {
        if (segments.get(segment.path) !== segment || segment.begun !== begun) return;
        for (const { at, length } of finished) await blankBody(handle, at, length);
      });
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
      clearTimeout(blanking);
      await tail;
      const open = [...segments.values()];
      segments.clear();
      await Promise.all(
        open.map((segment) => (segment.waiting === 0 ? retire(segment) : segment.handle.close())),
      );
    },
  };
  return { journal, left };
};

const lengthOf = (ref: EntryRef): number => ('bytes' in ref ? ref.bytes.length : ref.length);

/** Overwrites the body of an entry; its lengths and its head stay, which say whose it was. */
const blankBody = async (handle: FileHandle, at: number, length: number): Promise<void> => {
  const { buffer: prefix } = await handle.read(Buffer.alloc(PREFIX), 0, PREFIX, at);
  for (let from = bodyAt(prefix, 0); from < length; from += ZEROS.length)
    await handle.write(ZEROS, 0, Math.min(ZEROS.length, length - from), at + from);
};

const ZEROS = Buffer.alloc(64 * 1024);
