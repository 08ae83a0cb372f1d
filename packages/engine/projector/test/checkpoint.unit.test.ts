import { openMemoryContents } from '@stemma/contents';
import { readHistoryHead, readHistoryHeads } from '@stemma/history-store';
import { appendControl, openMemoryLog } from '@stemma/log';
import { openMemoryRowStore } from '@stemma/row-store';
import { someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { openProjector } from '../src/index.ts';

it(
  'a projector stores its position with its rows: heads, damage and the raised version are there for the next one',
  { tags: ['record§5:heads'] },
  async () => {
    const recorded = someRecorded(17);
    const log = await openMemoryLog();
    const store = openMemoryRowStore();
    const open = () => openProjector({ log, contents: openMemoryContents(), store, limits: { frames: 4 } });
    await log.append(0, recorded.entries);
    const before = open();
    await before.catchUp();
    const checkpoint = await before.checkpoint(0);
    if (checkpoint === undefined) throw new Error('nothing was read');
    const heads = { load: () => before.read((view) => readHistoryHeads(view, ['log:0'])) };
    const author = { at: 1n, actor: 'operator', command: 'raise' };
    await appendControl(log, checkpoint, heads, () => [{ type: 'FormatRaised', version: 2 }], author);
    const [entry] = recorded.entries.slice(-1);
    const bytes = Uint8Array.from(entry!.bytes);
    bytes[bytes.length >> 1]! ^= 1;
    await log.append(0, [{ key: entry!.key, bytes }]);
    await before.catchUp();
    const after = open();
    expect(await after.checkpoint(0)).toEqual(await before.checkpoint(0));
    expect((await after.checkpoint(0))?.state).toMatchObject({
      format: 2,
      damage: [{ history: entry!.key, affectsWholePartition: false }],
    });
    const headsOf = (projector: typeof before): Promise<unknown[]> =>
      projector.read((view) =>
        [...recorded.histories.keys()].map((history) => readHistoryHead(view, history)),
      );
    expect(await headsOf(after)).toEqual(await headsOf(before));
    expect(await after.read((view) => readHistoryHead(view, entry!.key)?.state)).toBe('damaged');
  },
);
