import { isName } from '@stemma/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkpointName, historyName, readCheckpointName } from '../src/names.ts';

test('a thread has a history of its own, with its id in the name where that can be', () => {
  expect(historyName('langgraph-', 'support_4711', 1)).toBe('langgraph-support_4711');
  expect(historyName('langgraph-', 'support_4711', 3)).toBe('langgraph-support_4711.3');
  const odd = historyName('langgraph-', 'user:7', 1);
  expect(odd).toMatch(/^langgraph-user-7-h[0-9a-f]{16}$/);
  // Nobody can name a thread so that it is another one's.
  expect(historyName('', odd, 1)).not.toBe(odd);
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (thread) =>
      isName(historyName('langgraph-', thread, 2)),
    ),
  );
});

test('a checkpoint is found by its name, whatever its id and namespace', () => {
  const id = '1f0cec2e-5f1a-6f00-8000-0123456789ab';
  expect(checkpointName({ namespace: '', id }, 1)).toBe(id);
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 9, unit: 'binary' }),
      fc.string(),
      fc.integer({ min: 1, max: 1000 }),
      (odd, namespace, times) => {
        const name = checkpointName({ namespace, id: odd }, times);
        expect(isName(name)).toBe(true);
        expect(readCheckpointName(name, namespace)).toEqual({ id: odd, times });
        expect(readCheckpointName(name, `${namespace}x`)).toBeNull();
      },
    ),
  );
  expect(() => checkpointName({ namespace: '', id: 'x'.repeat(91) }, 1)).toThrow(/more than 90/);
});
