import { compareCodePoints } from '@stemma/canonical';
import { partitionOf } from '@stemma/log';
import { encodeKey, packValue, type RowStore } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Projector } from '@stemma/projector';
import { allRows, logged, someRecorded } from '@stemma/test-kit';

/** What is undone after each test, the last first. */
export const made: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const undo of made.splice(0).reverse()) await undo();
});

/** Rows in a directory of their own. */
export const emptyStore = (): RowStore => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-workers-'));
  const store = openLmdbRowStore({ directory });
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await store.close();
    open = false;
  };
  made.push(async () => {
    await close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { ...store, close };
};

/** Every row as its bytes: the order of owners in the store is that of their first rows. */
export const bytesOfRows = async (projector: Projector): Promise<readonly string[]> => {
  const generation = await projector.generation();
  const rows = await allRows(generation);
  return generation.tables.flatMap((table) =>
    (rows[table.name] ?? [])
      .map(({ key, value }) =>
        [table.name, encodeKey(table, key), packValue(table, value)]
          .map((part) => part.toString('hex'))
          .join(' '),
      )
      .sort(compareCodePoints),
  );
};

/** Five histories. */
export const recorded = someRecorded(17, 5, 40);
/** A record with another bit in it, and a frame that cannot be applied. */
export const spoiled = async (): Promise<Awaited<ReturnType<typeof logged>>> => {
  const made = await logged(recorded, 2);
  for (const [history, share] of [
    ['h1', 0.5],
    ['h3', 0.7],
  ] as const) {
    const records = made.log.records(partitionOf(history, 2));
    const own = [...records.keys()].filter((i) => records[i]!.key === history);
    const at = own[Math.floor(own.length * share)]!;
    const bytes = Uint8Array.from(records[at]!.bytes);
    bytes[bytes.length >> 1]! ^= 1;
    records[at] = { ...records[at]!, bytes };
  }
  return made;
};
