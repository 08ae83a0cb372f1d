import { tryInFork } from '@stemma/command-handler';
import { threadBytes } from '@stemma/context-tree';
import { historyId, type Step } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import { openMemoryLog } from '@stemma/log';
import { positionOf, viewOf } from '@stemma/queries';

import { expect, test } from 'vitest';
import { memoryServices } from './memory-services.ts';
import { temporaryHome } from './small-home.ts';

const TURNS = 300;

test('what a model would be shown after steps is read of a long history in a few reads, not in one for each turn', async () => {
  using at = temporaryHome();
  const { handler, projector } = memoryServices(await openMemoryLog(), at.directory);
  const history = historyId('long', '');
  const submit = (id: string, steps: readonly Step[]) =>
    handler.submit({ id, history, branchId: 0, by: { recorder: 'test' }, steps: [...steps] });
  const block = (content: string): Step => ({
    op: 'insert',
    parent: '^ah',
    node: { nodeType: 'cb', role: 'user', content },
  });
  await submit('start', [{ op: 'start', name: 'long' }]);
  for (let turn = 1; turn <= TURNS; turn++)
    await submit(`turn-${turn}`, [block(`${turn}`), { op: 'commit' }]);
  await projector.catchUp();
  const position = await projector.read((rows) => positionOf(rows, branchRefOf(history, 0), ''));
  let reads = 0;
  const counted: typeof projector = {
    ...projector,
    read: (fn) => {
      reads++;
      return projector.read(fn);
    },
  };
  const tried = await tryInFork(counted, position, { by: { actor: 'ann' }, steps: [block('what if')] }, 0n);
  const after = await tried.thread();
  expect(reads).toBeLessThan(30);
  const { tree, payloads, thread } = await viewOf(projector, position);
  const before = threadBytes(tree, payloads, thread);
  expect(after.startsWith(before.slice(0, -1))).toBe(true);
  expect(JSON.parse(after)).toHaveLength(TURNS + 1);
});
