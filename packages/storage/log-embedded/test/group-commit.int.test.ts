import { afterEach, expect, it } from 'vitest';
import { openEmbeddedLog } from '../src/index.ts';
import { makeDirectory, removeDirectories } from './kit.ts';

afterEach(removeDirectories);

const entry = (i: number): { key: string; bytes: Buffer } => ({
  key: `k${i}`,
  bytes: Buffer.from(`record ${i}`),
});

it(
  'simultaneous appends of one process share one sync, and each is acknowledged with its own offset',
  { tags: ['record§6:group-commit'] },
  async () => {
    // The syncs of a log that is made and of three groups are fewer than this; 200 of their own would be more.
    const log = await openEmbeddedLog({
      directory: makeDirectory(),
      failAtSync: 20,
      onFatal: () => undefined,
    });
    const placed = await Promise.all(Array.from({ length: 200 }, (_, i) => log.append(0, [entry(i)])));
    const offsets = placed.map(([at]) => at?.offset);
    expect(new Set(offsets).size).toBe(200);
    const { records } = await log.read(0, offsets[0] ?? 0);
    expect(records.map(({ key }) => key)).toEqual(Array.from({ length: 200 }, (_, i) => `k${i}`));
    await log.close();
  },
);
