import { attempt, fail } from '@stemma/errors';
import {
  localSource,
  sameCursor,
  scanOf,
  type Generation,
  type GenerationView,
  type Table,
} from '@stemma/row-store';
import { nameKey } from './entries.ts';
import { GenerationTrees, type Registration } from './generation-trees.ts';
import { viewIn } from './generation-view.ts';
import { damageIn } from './lmdb-damage.ts';
import type { LmdbEnvironment } from './lmdb-environment.ts';
import { cursorKey } from './own-keys.ts';
import { ownRecords } from './own-records.ts';
import { writeRows } from './write-rows.ts';

export type LmdbGeneration = Generation & Required<Pick<Generation, 'readIfCurrent'>>;

export const lmdbGeneration = (
  environment: Omit<LmdbEnvironment, 'tableNames'>,
  name: string,
  tables: readonly Table[],
  registered: Registration,
): LmdbGeneration => {
  const trees = new GenerationTrees(environment, name, tables, registered);
  const view = viewIn(trees);
  const targets: Parameters<typeof writeRows>[0] = {
    tables,
    treeOf: (table) => trees.treeOf(table),
    writeHead: (table, key, take) => trees.writeHead(table, key, take),
    packedOf: (table, key, create) => trees.packedOf(table, key, create),
  };

  /** Reads the newest commit from now on. */
  const refresh = (): number => {
    environment.refresh();
    // Numbers are never reused: a generation that was dropped since looks empty.
    if (trees.base === undefined) trees.isOpen();
    return environment.opened();
  };

  const readNow = <T>(fn: (view: GenerationView) => T): T => {
    for (;;) {
      const opened = refresh();
      const result = attempt(() => fn(view));
      // Opening a tree in between ended the read state: once more, now that all trees are open.
      if (environment.opened() === opened) return result();
    }
  };
  const pointers = ownRecords(environment.own);
  const nameBytes = Buffer.from(name);
  const pointerKeys = new Map<string, Buffer>();
  const pointerKeyOf = (group: string): Buffer => {
    const known = pointerKeys.get(group) ?? nameKey('p', group);
    pointerKeys.set(group, known);
    return known;
  };

  return {
    name,
    tables,
    read: async (fn) => readNow(fn),
    readIfCurrent: async (group, fn) =>
      readNow((now) =>
        pointers.get(pointerKeyOf(group))?.equals(nameBytes) === true ? { value: fn(now) } : undefined,
      ),
    async scan(fn) {
      for (const table of tables) trees.treeOf(table);
      refresh();
      return fn(scanOf(view));
    },
    source: () => localSource(view),
    async commit({ partition, expected, cursor, changes, encoded = [] }) {
      let committed = false;
      try {
        for (const table of tables) trees.treeOf(table, true);
        environment.write(() => {
          trees.isOpen();
          if (!sameCursor(view.cursor(partition), expected))
            throw fail(
              'E_CURSOR_MOVED',
              `partition ${partition} of ${name} was changed by another projector`,
            );
          const base = trees.register();
          writeRows(targets, changes, encoded);
          trees.own.put(cursorKey(base, partition), Buffer.from(cursor));
        });
        committed = true;
      } catch (error) {
        throw damageIn(error, name, 'a table');
      } finally {
        trees.owners?.endTransaction(committed);
        if (!committed) trees.isOpen();
      }
    },
  };
};
