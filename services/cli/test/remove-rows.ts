import { openDirectoryContents } from '@stemma/contents';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openProjector } from '@stemma/projector';
import type { RowChange } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { join } from 'node:path';

/**
 * Takes every nth row of a table away, as nothing that writes rows does: all that are left have right checksums.
 *
 * @returns how many were taken away
 */
export const removeRows = async (home: string, name: string, nth: number): Promise<number> => {
  const log = await openEmbeddedLog({ directory: join(home, 'log') });
  const contents = await openDirectoryContents(join(home, 'contents'));
  const store = openLmdbRowStore({ directory: join(home, 'rows') });
  try {
    const rows = await openProjector({ log, contents, store }).generation();
    const table = rows.tables.find((each) => each.name === name);
    if (table === undefined) throw new Error(`there is no table ${name}`);
    const changes = await rows.scan(async (scan) => {
      const removed: RowChange[] = [];
      let i = 0;
      for await (const { key } of scan.entries(table))
        if (++i % nth === 0) removed.push({ table, key, value: null });
      return removed;
    });
    const [partition, cursor] = await rows.read((view) => {
      const first = view.partitions()[0] ?? 0;
      return [first, view.cursor(first)] as const;
    });
    if (cursor !== null && changes.length > 0)
      await rows.commit({ partition, expected: cursor, cursor, changes });
    return changes.length;
  } finally {
    await store.close();
    await contents.close();
    await log.close();
  }
};
