import { historyId, type Command } from '@stemma/history';
import { sized } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { MOST_AHEAD } from '../src/decision-state.ts';
import { openWithoutRows, write } from './writer-without-rows.ts';

const history = historyId('h', '');
const by = { recorder: 'r' };

/** Command 0 starts the history, each other one inserts a block with the content. */
const commandsWith =
  (content: string) =>
  (n: number): Command => ({
    id: `c${n}`,
    history,
    branchId: 0,
    by,
    steps:
      n === 0
        ? [{ op: 'start', name: 'h' }]
        : [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content } }],
  });

it('while the rows of a history are not updated, the handler accepts only so many frames for it, and accepts more once the rows have caught up', async () => {
  const frames = sized(500, MOST_AHEAD.frames);
  const { projector, writer } = await openWithoutRows({ ...MOST_AHEAD, frames });
  const command = commandsWith('x');
  const some = (from: number, to: number): Promise<string[]> =>
    Promise.all(Array.from({ length: to - from }, (_, i) => write(writer, command(from + i))));
  const outcomes = [...(await some(0, 1)), ...(await some(1, frames))];
  expect(new Set(outcomes)).toEqual(new Set(['written']));
  expect(await some(frames, frames + 2)).toEqual(['E_ROWS_BEHIND', 'E_ROWS_BEHIND']);
  expect(await write(writer, command(7))).toBe('repeated');
  // It is refused before it is decided: the decision would refuse the node that does not exist.
  const wrong = { ...command(frames + 2), steps: [{ op: 'remove' as const, id: 'nowhere' }] };
  expect(await write(writer, wrong)).toBe('E_ROWS_BEHIND');
  await projector.catchUp();
  expect(await some(frames, frames + 2)).toEqual(['written', 'written']);
  await writer.close();
});

it('frames ahead of the rows take only so many bytes of a history, however few they are', async () => {
  const bytes = sized(16, MOST_AHEAD.bytes / 1024 / 1024) * 1024 * 1024;
  const { projector, writer } = await openWithoutRows({ ...MOST_AHEAD, bytes });
  const command = commandsWith('x'.repeat(4 * 1024 * 1024));
  const outcomes: string[] = [];
  for (let n = 0; n <= 40 && !outcomes.includes('E_ROWS_BEHIND'); n++)
    outcomes.push(await write(writer, command(n)));
  // The last of those that are written goes beyond the limit.
  expect(outcomes).toHaveLength(bytes / 1024 / 1024 / 4 + 2);
  expect(await write(writer, command(2))).toBe('repeated');
  await projector.catchUp();
  expect(await write(writer, command(100))).toBe('written');
  await writer.close();
});

it('a fork cannot take the name of the first branch even before the rows contain the history', async () => {
  const { writer } = await openWithoutRows();
  const start: Command = { id: 'c0', history, branchId: 0, by, steps: [{ op: 'start', name: 'h' }] };
  const fork: Command = {
    id: 'c1',
    history,
    branchId: 0,
    by,
    steps: [{ op: 'fork', at: { branchId: 0, seq: 0 }, name: 'main' }],
  };
  expect([await write(writer, start), await write(writer, fork)]).toEqual(['written', 'E_NAME_TAKEN']);
  await writer.close();
});
