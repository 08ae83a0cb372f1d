import { bootId, isAlive, readRegularFile } from '@stemma/machine';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeEntry, decodeHead, type Waiting } from './entry.ts';

/** The name of a file says which process writes it. */
const OWNED = /^(\d+)-(\d+)-([\w-]+?)-(\d+)\.calls$/;

/** An entry may be larger than a file is when it begins. */
const MOST_LEFT = 2 ** 30;

/** Undefined for a file that is not there any more: another process that began with this one has recorded what was in it. */
export const unlessGone = async <T>(act: Promise<T>): Promise<T | undefined> => {
  try {
    return await act;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** The files whose process has ended, the oldest first. */
export const abandonedFiles = async (folder: string): Promise<string[]> => {
  const found: { readonly path: string; readonly owner: string; readonly number: number }[] = [];
  /** When each process wrote last. */
  const ends = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const [, pid, began, boot, number] = OWNED.exec(name) ?? [];
    if (pid === undefined) continue;
    const isOfThisBoot = boot === bootId();
    if (isOfThisBoot && isAlive(Number(pid), began === '0' ? undefined : began)) continue;
    const path = join(folder, name);
    const stats = await unlessGone(stat(path));
    // A pipe would never be read to its end.
    if (stats?.isFile() !== true) continue;
    const owner = `${pid}-${began}-${boot}`;
    found.push({ path, owner, number: Number(number) });
    ends.set(owner, Math.max(ends.get(owner) ?? 0, stats.mtimeMs));
  }
  const endOf = ({ owner }: { readonly owner: string }): number => ends.get(owner) ?? 0;
  const inOrder = found.sort(
    (a, b) => endOf(a) - endOf(b) || (a.owner < b.owner ? -1 : a.owner > b.owner ? 1 : a.number - b.number),
  );
  return inOrder.map(({ path }) => path);
};

/** What is not recorded of files, in its order. */
export const readLeftOver = async (
  files: readonly string[],
  damaged: (file: string, reason: string) => void,
): Promise<Waiting[]> => {
  const waiting = new Map<string, Waiting>();
  for (const file of files) {
    const bytes = await unlessGone(Promise.resolve(file).then((path) => readRegularFile(path, MOST_LEFT)));
    if (bytes === undefined) continue;
    const { entries, damage } = entriesIn(bytes, file);
    for (const each of entries) waiting.set(`${each.kind} ${each.id}`, each);
    if (damage !== undefined) damaged(file, damage);
  }
  return [...waiting.values()];
};

type Damage = { readonly at: number; readonly damage: string };

/** The entries of a file that are not recorded, up to the first damage. One whose body was overwritten is recorded, as the file says. */
const entriesIn = (
  bytes: Buffer,
  file: string,
): { readonly entries: readonly Waiting[]; readonly damage?: string } => {
  const found: (Waiting | { readonly kind: 'done'; readonly key: string })[] = [];
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
      } else found.push({ kind: entry.kind, id: entry.id, ref: { file, at, length: next - at } });
      at = next;
    }
  };
  const broken = scan();
  const [first = broken] = changed.values();
  const waiting = new Map<string, Waiting>();
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
