import { openMemoryContents } from '@stemma/contents';
import { openMemoryLog } from '@stemma/log';
import { openMemoryRowStore } from '@stemma/row-store';
import { allRows, anyRecorded, appendAll, record, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openProjector } from '../src/index.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(10, 60));

it('trees that are loaded from rows before each frame, turn by turn, give the same rows as trees in memory', async () => {
  await fc.assert(
    fc.asyncProperty(anyRecorded(1, 40), async (actions) => {
      const { entries } = record(actions);
      const log = await openMemoryLog();
      const contents = openMemoryContents();
      const [loaded, kept] = [openMemoryRowStore(), openMemoryRowStore()];
      const inMemory = openProjector({ log, contents, store: kept });
      for (const entry of entries) {
        await appendAll(log, [entry]);
        await inMemory.catchUp();
        await openProjector({ log, contents, store: loaded }).catchUp();
      }
      const last = openProjector({ log, contents, store: loaded });
      const [found, right] = [
        await allRows(await last.generation()),
        await allRows(await inMemory.generation()),
      ];
      // Shown first: why a history is defective.
      expect(found['defects']).toEqual(right['defects']);
      expect(found).toEqual(right);
    }),
    { numRuns: RUNS },
  );
}, 60_000);
