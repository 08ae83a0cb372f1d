import { readRegularFile } from '@stemma/machine';
import { readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { cutCallIn, cutCallOf, type CutCall } from './cut-calls.ts';
import { decodeEntry, decodeHead, type StartedEntry, type Waiting } from './entry.ts';
import { journalFileOf, unendedCallFile } from './journal-names.ts';
import { isProviderCall } from './provider-call.ts';

/** An entry may be larger than a file is when it begins. */
const MOST_LEFT = 2 ** 30;

/** The files of processes that have ended. */
export type LeftFiles = {
  /** What is not recorded of them, in its order. */
  readonly left: readonly Waiting[];
  /** The ends of calls that ended with them, and what becomes of each when it is noted. */
  readonly cut: readonly { readonly call: CutCall; readonly noted: () => Promise<void> }[];
  /** So many entries of a file are recorded: it goes with the last one. */
  recorded(file: string, entries: number): Promise<void>;
};

/** Reads the files that processes left which have ended, and removes those in which nothing waits. */
export const openLeftFiles = async (folder: string, warn: (sentence: string) => void): Promise<LeftFiles> => {
  const { files, unendedCalls } = await abandonedFiles(folder);
  const damaged = new Set<string>();
  const found = await readLeftOver(files, (file, reason) => {
    damaged.add(file);
    warn(`${file}: ${reason}; what comes after is not recorded, and the file is kept as ${file}.damaged`);
  });
  const left = found.map(({ kind, id, ref }): Waiting => ({ kind, id, ref }));
  const cut = await cutCalls(folder, unendedCalls, found, warn);
  const remove = async (file: string): Promise<void> => {
    await unlessGone(damaged.has(file) ? rename(file, `${file}.damaged`) : unlink(file));
  };
  const known = new Map<string, number>();
  for (const { ref } of left) if ('file' in ref) known.set(ref.file, (known.get(ref.file) ?? 0) + 1);
  await Promise.all(files.filter((file) => !known.has(file)).map(remove));
  return {
    left,
    cut,
    recorded: async (file, entries) => {
      const rest = (known.get(file) ?? entries) - entries;
      known.set(file, rest);
      if (rest === 0) await remove(file);
    },
  };
};

/** Undefined for a file that is not there any more: another process that began with this one has recorded what was in it. */
const unlessGone = async <T>(act: Promise<T>): Promise<T | undefined> => {
  try {
    return await act;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** The files whose process has ended, the oldest first, and those of calls that were under way, by the calls' ids. */
const abandonedFiles = async (
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly unendedCalls: ReadonlyMap<string, string> }> => {
  const found: { readonly path: string; readonly owner: string; readonly number: number }[] = [];
  const unendedCalls = new Map<string, string>();
  /** When each process wrote last. */
  const ends = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const file = journalFileOf(name);
    if (file === undefined || file.isOwnerAlive) continue;
    const path = join(folder, name);
    const stats = await unlessGone(stat(path));
    // A pipe would never be read to its end.
    if (stats?.isFile() !== true) continue;
    const { owner } = file;
    if ('call' in file) unendedCalls.set(file.call, path);
    else found.push({ path, owner, number: file.number });
    ends.set(owner, Math.max(ends.get(owner) ?? 0, stats.mtimeMs));
  }
  const endOf = ({ owner }: { readonly owner: string }): number => ends.get(owner) ?? 0;
  const inOrder = found.sort(
    (a, b) => endOf(a) - endOf(b) || (a.owner < b.owner ? -1 : a.owner > b.owner ? 1 : a.number - b.number),
  );
  return { files: inOrder.map(({ path }) => path), unendedCalls };
};

/** The ends of calls that nobody noted, as their processes ended before. */
const cutCalls = async (
  folder: string,
  unendedCalls: ReadonlyMap<string, string>,
  left: readonly LeftEntry[],
  warn: (sentence: string) => void,
): Promise<LeftFiles['cut']> => {
  const ended = new Set(left.filter(({ kind }) => kind === 'ended').map(({ id }) => id));
  const cut: LeftFiles['cut'][number][] = [];
  for (const [id, file] of unendedCalls) {
    // This process has it now: others that begin at the same time do not find it.
    const own = join(folder, unendedCallFile(id));
    const isOwn = await unlessGone(rename(file, own).then(() => true));
    if (isOwn !== true) continue;
    try {
      const call = ended.has(id) ? undefined : cutCallIn(readRegularFile(own, MOST_LEFT));
      if (call === undefined) await unlink(own);
      else cut.push({ call, noted: () => unlink(own) });
    } catch (error) {
      warn(`${own}: what the client of a call was given cannot be read: ${String(error)}`);
    }
  }
  for (const { id, went } of left)
    if (went !== undefined && !ended.has(id) && !unendedCalls.has(id))
      cut.push({ call: cutCallOf(went), noted: () => Promise.resolve() });
  return cut;
};

/** `went`: a call that began to go out when it was noted. */
type LeftEntry = Waiting & { readonly went?: Pick<StartedEntry, 'id' | 'method' | 'path'> };

/** What is not recorded of files, in its order. */
const readLeftOver = async (
  files: readonly string[],
  damaged: (file: string, reason: string) => void,
): Promise<LeftEntry[]> => {
  const waiting = new Map<string, LeftEntry>();
  for (const file of files) {
    const bytes = await unlessGone(Promise.resolve(file).then((path) => readRegularFile(path, MOST_LEFT)));
    if (bytes === undefined) continue;
    const { entries, damage } = entriesIn(bytes, file);
    for (const each of entries) waiting.set(`${each.kind} ${each.id}`, each);
    if (damage !== undefined) damaged(file, damage);
  }
  return [...waiting.values()];
};

/** A call as it was left: one entry of it, or both where no other call began between them, which one command records. */
type LeftCall = { readonly start?: Waiting; readonly end?: Waiting };

export const leftCalls = (left: readonly Waiting[]): readonly LeftCall[] => {
  const calls: LeftCall[] = [];
  /** The place of the call that began last. */
  let last = -1;
  /** The places of calls without messages, which are recorded whole, whatever began between. */
  const whole = new Map<string, number>();
  for (const entry of left) {
    if (isProviderCall(entry)) {
      const place = whole.get(entry.id);
      if (entry.kind === 'started') whole.set(entry.id, calls.push({ start: entry }) - 1);
      else calls[place ?? calls.length] = { ...calls[place ?? calls.length], end: entry };
      continue;
    }
    const start = calls[last]?.start;
    if (entry.kind === 'started') last = calls.push({ start: entry }) - 1;
    else if (start?.id === entry.id) calls[last] = { start, end: entry };
    else calls.push({ end: entry });
  }
  return calls;
};

type Damage = { readonly at: number; readonly damage: string };

/** The entries of a file that are not recorded, up to the first damage. One whose body was overwritten is recorded, as the file says. */
const entriesIn = (
  bytes: Buffer,
  file: string,
): { readonly entries: readonly LeftEntry[]; readonly damage?: string } => {
  const found: (LeftEntry | { readonly kind: 'done'; readonly key: string })[] = [];
  const changed = new Map<string, Damage>();
  const scan = (): Damage | undefined => {
    for (let at = 0; ;) {
      const read = readAt(bytes, at);
      // The process ended while it wrote the last one.
      if (read === undefined) return undefined;
      if ('damage' in read) {
        if (read.head === undefined) return { at, damage: read.damage };
        changed.set(keyOf(read.head.entry), { at, damage: read.damage });
        at = read.head.next;
        continue;
      }
      const { entry, next } = read;
      if (entry.kind === 'done') {
        const key = `${entry.what} ${entry.id}`;
        changed.delete(key);
        found.push({ kind: 'done', key });
      } else if (entry.kind === 'started' || entry.kind === 'ended') {
        const { id, method, path } = entry;
        const went = entry.kind === 'started' && entry.sentAt != null ? { went: { id, method, path } } : {};
        found.push({ kind: entry.kind, id, ref: { file, at, length: next - at }, ...went });
      }
      at = next;
    }
  };
  const broken = scan();
  const [first = broken] = changed.values();
  const waiting = new Map<string, LeftEntry>();
  for (const each of found) {
    if (each.kind === 'done') waiting.delete(each.key);
    else if (first === undefined || ('file' in each.ref && each.ref.at < first.at))
      waiting.set(keyOf(each), each);
  }
  const entries = [...waiting.values()];
  return first === undefined ? { entries } : { entries, damage: first.damage };
};

const readAt = (
  bytes: Buffer,
  at: number,
): ReturnType<typeof decodeEntry> | { damage: string; head: ReturnType<typeof decodeHead> } => {
  try {
    return decodeEntry(bytes, at);
  } catch (error) {
    const damage = error instanceof Error ? error.message : String(error);
    return { damage, head: decodeHead(bytes, at) };
  }
};

const keyOf = ({ kind, id }: Pick<Waiting, 'kind' | 'id'>): string => `${kind} ${id}`;
