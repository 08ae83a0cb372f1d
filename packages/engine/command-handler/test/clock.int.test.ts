import { exportTree } from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import { openHome, send, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

const block = (id: string): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', content: id },
});

test(
  'the clock is read once for a command, and its time is in the frame and in the nodes',
  { tags: ['record§1:at', 'context-tree§2:nanoseconds'] },
  async () => {
    using at = temporaryHome();
    let read = 0;
    let now = 1_724_670_000_000_000_001n;
    const home = await openHome({ directory: at.directory, create: true, clock: () => (read++, now++) });
    await send(home, 'timed', 'first', [{ op: 'start', name: 'timed' }]);
    await send(home, 'timed', 'second', [block('a'), block('b'), { op: 'commit' }]);
    await send(home, 'timed', 'second', [block('a'), block('b'), { op: 'commit' }]);
    expect(read).toBe(2);
    const branchRef = await home.find('timed');
    const events = await home.read.events(branchRef.history);
    expect(events.map(({ seq, at: milliseconds }) => [seq, milliseconds])).toEqual([
      [0, 1_724_670_000_000],
      ...Array.from({ length: 4 }, () => [1, 1_724_670_000_000]),
    ]);
    const { tree, payloads } = await home.read.view(await home.position(branchRef, '@c1'));
    expect(exportTree(tree, payloads).match(/"created_at_ns":17\d+/g)).toEqual(
      Array.from({ length: 3 }, () => '"created_at_ns":1724670000000000002'),
    );
    await home.close();
  },
);
