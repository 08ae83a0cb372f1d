import { play } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { configAt } from '../src/branches/saved.ts';

test('the configuration at a position is the general one with the policy in it', () => {
  const { history, rows, positionAt } = play([], { op: 'start', name: null });
  history.run(0, [{ op: 'config', set: { model: 'm' } }]);
  history.run(0, [{ op: 'policy', policy: { max_blocks: 2, keep_turns: 1, pins: ['a'] } }]);
  const configs = [1, 2].map((seq) => rows.now((view) => configAt(view, positionAt(0, seq))));
  expect(configs).toEqual([{ model: 'm' }, { model: 'm', max_blocks: 2, keep_turns: 1, pins: ['a'] }]);
});
