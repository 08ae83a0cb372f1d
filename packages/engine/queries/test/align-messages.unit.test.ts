import { countWork } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { alignMessages, pairsBetween, type ThreadMessage } from '../src/audit/align-messages.ts';

const message = (id: string, key: string, role = 'user'): ThreadMessage => ({ key, ids: [id], role, seq: 1 });

test('a message of one role and id on both sides is one message that differs, whatever came before it', () => {
  const [start, end] = [message('s', 'same'), message('e', 'end')];
  const [a, b] = [message('x', 'before'), message('x', 'after')];
  const [gone, come] = [message('g', 'gone'), message('n', 'new', 'assistant')];
  expect(alignMessages([start, gone, a, end], [start, come, b, end])).toEqual([
    { a: start, b: start },
    { a: gone, b: null },
    { a: null, b: come },
    { a, b },
    { a: end, b: end },
  ]);
});

test('pairing the messages between two that are the same takes as many steps as there are messages', async () => {
  const thread = (side: string, length: number): ThreadMessage[] =>
    Array.from({ length }, (_, i) => message(`${side}${i}`, `${side} says ${i}`));
  const [few, many] = await countWork(
    [400, 1_600].map((length) => () => pairsBetween(thread('a', length), thread('b', length + 1))),
  );
  expect(many! / few!).toBeLessThan(4.4);
});
