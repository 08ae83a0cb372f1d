import { compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { sameCursor, type RowStore, type Table } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openLmdbEnvironment, type LmdbEnvironment } from './lmdb-environment.ts';
import { lmdbGeneration, type LmdbGeneration } from './lmdb-generation.ts';
import { nameKey, readEntry, shapeHash, type GenerationEntry } from './entries.ts';
import type { Registration } from './generation-trees.ts';
import { cursorKey, cursorsOf, ownHead } from './own-keys.ts';
import { ownRecords, removeSome } from './own-records.ts';
import { uintBytes } from './owners.ts';

export type LmdbRowStoreOptions = {
  readonly directory: string;
  /** For tests: the id of this boot of the machine. */
  readonly boot?: string;
  /** Told in a sentence when rows were found damaged and put aside: they are empty, and are rebuilt from the log. */
  readonly say?: (sentence: string) => void;
};

/**
 * Rows in one directory, for all processes of one machine. Nothing is synced while it runs: a batch survives the end of
 * the process; if the machine ends without a clean `close`, the store is empty when opened and is rebuilt from the log.
 * So it is if its files are damaged. Reads never wait for writers.
 *
 * @throws E_IO
 */
export const openLmdbRowStore = ({
  directory,
  boot,
  say = () => undefined,
}: LmdbRowStoreOptions): RowStore => {
  const open = (): OpenedRows =>
    openRows(
      openLmdbEnvironment({
        directory,
        ...defined({ boot }),
        replaced: (damage) =>
          say(`the rows were damaged (${damage}); they are put aside, and rebuilt from the log`),
        copied: () => say('the rows were copied while others wrote them; they are rebuilt from the log'),
      }),
    );
  let opened = open();
  const replaced: OpenedRows[] = [];
  let looked = false;
  const lookAgain = (): void => {
    looked = false;
  };
  /**
   * The rows as they are now: another process may have found them damaged, and put others in their place. To look for
   * that costs more than a read of a row, so all reads of one turn of the event loop share a look.
   */
  const now = (): OpenedRows => {
    if (looked) return opened;
    looked = true;
    setImmediate(lookAgain);
    if (!opened.isReplaced()) return opened;
    // Whoever reads them still goes on.
    replaced.push(opened);
    return (opened = open());
  };
  return {
    generation: async (name, tables) => {
      let from = now();
      let generation = from.generation(name, tables);
      const current = (): LmdbGeneration => {
        if (now() !== from) {
          from = opened;
          generation = from.generation(name, tables);
        }
        return generation;
      };
      return {
        name,
        tables,
        // Awaited here, as a promise that is only handed on takes two turns more.
        read: async (fn) => await current().read(fn),
        readIfCurrent: async (group, fn) => await current().readIfCurrent(group, fn),
        scan: async (fn) => current().scan(fn),
        source: () => current().source(),
        commit: async (batch) => current().commit(batch),
      };
    },
    current: async (group) => now().current(group),
    promote: async (promotion) => now().promote(promotion),
    cursors: async (name) => now().cursors(name),
    generations: async () => now().generations(),
    drop: async (name) => now().drop(name),
    // Where one row is damaged others may be: nothing of the file is used any more.
    discard: async (generation) => {
      lookAgain();
      if (opened.isReplaced()) return false;
      opened.replace(`rows of ${generation}`);
      return true;
    },
    // LMDB leaves in its pages what is removed from them. Who has a file open reads on until it looks for the next.
    destroy: async () => {
      lookAgain();
      removeFiles(directory, opened.isReplaced() ? undefined : opened.folder);
      opened.replace('something in them was erased');
      // Nothing was wrong with them: they are not kept for who wants to look.
      rmSync(join(opened.folder, 'damage'), { force: true });
    },
    address: (generation, commits = false) => {
      if (commits) now().announce();
      return { kind: 'lmdb', file: now().file, generation };
    },
    bytes: async () => now().bytes(),
    close: async () => {
      for (const each of [...replaced, opened]) await each.close();
    },
  };
};

/** Removes the rows of all environments of a directory but the newest, and of `folder`. */
const removeFiles = (directory: string, folder: string | undefined): void => {
  for (;;) {
    const names = readdirSync(directory).filter((name) => /^(damaged-)?\d+$/.test(name));
    const newest = Math.max(...names.map(Number).filter(Number.isSafeInteger));
    const files = names
      .filter((name) => name !== String(newest) || (folder !== undefined && basename(folder) === name))
      .map((name) => join(directory, name, 'rows.mdb'));
    for (const file of files) removeWhatever(file);
    // Another process may have put one aside under another name at this moment.
    const after = new Set(readdirSync(directory));
    if (names.every((name) => after.has(name))) return;
  }
};

/** Something else may be in the place of the file, or of its folder: then it holds no rows. */
const removeWhatever = (file: string): void => {
  const folder = statSync(dirname(file), { throwIfNoEntry: false });
  if (folder?.isDirectory() === true) rmSync(file, { recursive: true, force: true });
};

/** The rows of one environment. */
type OpenedRows = Omit<RowStore, 'generation' | 'discard' | 'address'> & {
  generation(name: string, tables: readonly Table[]): LmdbGeneration;
  readonly folder: string;
  readonly file: string;
  /** Says that rows are written, durably, as each write does: before another thread writes some. */
  announce(): void;
  isReplaced(): boolean;
  replace(damage: string): void;
};

const openRows = (environment: LmdbEnvironment): OpenedRows => {
  const { file } = environment;
  const db = ownRecords(environment.own);

  const entryOf = (name: string): GenerationEntry | undefined => readEntry(db, name);
  const registration = (name: string, shape: string): Registration => ({
    number: () => entryOf(name)?.number,
    register() {
      const used = [...db.range(nameKey('g', ''), nameKey('h', ''))].map(
        ({ value }) => (JSON.parse(value.toString()) as GenerationEntry).number,
      );
      // Above all numbers ever used: a generation that is being dropped keeps its rows for a moment.
      const number = Math.max(0, lastNumber(), ...used) + 1;
      db.put(nameKey('n', ''), Buffer.from(String(number)));
      db.put(nameKey('g', name), Buffer.from(JSON.stringify({ number, shape } satisfies GenerationEntry)));
      return number;
    },
  });
  const lastNumber = (): number => Number(db.get(nameKey('n', ''))?.toString() ?? 0);
  const current = (group: string): string | null => db.get(nameKey('p', group))?.toString() ?? null;
  const groups = (): string[] =>
    [...db.range(nameKey('p', ''), nameKey('q', ''))].map(({ value }) => value.toString());

  return {
    folder: dirname(file),
    file,
    announce: () => environment.write(() => undefined),
    isReplaced: () => environment.isReplaced(),
    replace: (damage) => environment.replace(damage),
    generation(name, tables) {
      environment.refresh();
      const shape = shapeHash(tables);
      const entry = entryOf(name);
      if (entry !== undefined && entry.shape !== shape)
        throw fail('E_ROWS_VERSION', `the generation ${name} was created with other tables`);
      return lmdbGeneration(environment, name, tables, registration(name, shape));
    },
    async current(group) {
      environment.refresh();
      return current(group);
    },
    async promote({ group, from, to, unmoved }) {
      environment.write(() => {
        if (current(group) !== from) throw fail('E_CURSOR_MOVED', `${group} is at another generation`);
        for (const { generation, partition, cursor } of unmoved) {
          const number = entryOf(generation)?.number;
          const stored = number === undefined ? null : (db.get(cursorKey(number, partition)) ?? null);
          if (!sameCursor(stored, cursor))
            throw fail('E_CURSOR_MOVED', `${generation} was changed by another projector`);
        }
        db.put(nameKey('p', group), Buffer.from(to));
      });
    },
    async cursors(name) {
      environment.refresh();
      const number = entryOf(name)?.number;
      return number === undefined ? new Map<number, Uint8Array>() : cursorsOf(db, number);
    },
    async generations() {
      environment.refresh();
      const records = [...db.range(nameKey('g', ''), nameKey('h', ''))];
      return records.map(({ key }) => key.subarray(2).toString()).sort(compareCodePoints);
    },
    async drop(name) {
      const dropped = environment.write(() => {
        if (groups().includes(name)) throw fail('E_ROWS_VERSION', `the generation ${name} is being read`);
        const entry = entryOf(name);
        if (entry !== undefined) db.remove(nameKey('g', name));
        return entry;
      });
      if (dropped === undefined) return;
      // Its rows are unreachable now; they are removed in pieces, so that others can write in between.
      const { number } = dropped;
      const trees = environment.tableNames().map((table) => environment.table(table, false));
      for (const tree of trees)
        while (tree && environment.write(() => removeSome(tree, uintBytes(number), uintBytes(number + 1))));
      const own = ownHead(number);
      while (environment.write(() => db.removeSome(own, Buffer.concat([own, Buffer.of(0xff)]))));
    },
    bytes: async () => statSync(file).size,
    close: () => environment.close(),
  };
};

/** Removes all rows of a directory. Nobody may have it open. */
export const destroyLmdbRowStore = (directory: string): void =>
  rmSync(directory, { recursive: true, force: true });
