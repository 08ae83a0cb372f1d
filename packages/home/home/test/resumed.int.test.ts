import { historyId, type Step } from '@stemma/history';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sized } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { seeded } from '@stemma/log/contract';
import { open, send, start, temporaryHome } from '@stemma/test-kit/home';

/** One cycle: blocks with and without an end, references, and something late on an older turn. */
const cycle = (i: number, random: () => number): readonly Step[] => {
  const steps: Step[] = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, k) => ({
    op: 'insert',
    parent: random() < 0.05 ? '^sys' : '^ah',
    node: {
      nodeType: 'cb',
      id: `b${i}-${k}`,
      content: `${i} ${k} ${random()}`,
      offset: random() < 0.3 ? -1 : 0,
      ...(random() < 0.5 ? { ttl: 1 + Math.floor(random() * 80) } : {}),
      ...(k > 0 && random() < 0.3 ? { refs: [`b${i}-0`] } : {}),
    },
  }));
  if (i > 10 && random() < 0.2)
    steps.push({
      op: 'insert',
      parent: `t${i - 1 - Math.floor(random() * 5)}`,
      node: { nodeType: 'cb', id: `late${i}`, content: 'late', offset: 1, ttl: 2 },
    });
  return [...steps, { op: 'commit', turn_id: `t${i}` }];
};

test(
  'a history whose home is closed and reopened between commands records the same hashes as a single reader computes',
  { tags: ['long', 'record§2:defective', 'snapshots:tree-hash', 'snapshots:thread-hash'], timeout: 600_000 },
  async () => {
    using at = temporaryHome();
    const random = seeded(7);
    const cycles = sized(80, 160);
    let home = await open(at.directory);
    await start(home, 'long');
    for (let i = 1; i <= cycles; i++) {
      await send(home, 'long', `cycle:${i}`, cycle(i, random));
      if (random() > 0.15) continue;
      await home.close();
      home = await open(at.directory);
    }
    await home.close();
    rmSync(join(at.directory, 'rows'), { recursive: true });
    home = await open(at.directory);
    expect(await home.operations.verify()).toMatchObject({ ok: true, problems: [] });
    expect((await home.read.history(historyId('long', ''))).cycles).toBe(cycles);
    expect(await home.operations.replay({ verify: true, batches: [1, 7], stops: true })).toMatchObject({
      differences: 0,
    });
    await home.close();
  },
);
