import { openMemoryContents } from '@stemma/contents';
import { historyId, type Command, type Step } from '@stemma/history';
import { openMemoryLog } from '@stemma/log';
import { openProjector, verifyReplay } from '@stemma/projector';
import { openMemoryRowStore } from '@stemma/row-store';
import { expect, it } from 'vitest';
import { openCommandHandler } from '../src/command-handler.ts';

const history = historyId('h', '');
/** A time that is recorded as it is decided: those of tests are often so small that they are read as numbers. */
const NOW = 1_790_000_000_000_000_000n;

const opened = async () => {
  const log = await openMemoryLog();
  const contents = openMemoryContents();
  const rows = openProjector({ log, contents, store: openMemoryRowStore() });
  const handler = openCommandHandler({ log, contents, rows, clock: () => NOW, accepted: () => undefined });
  const submit = (id: string, ...steps: Step[]) =>
    handler.submit({ id, history, branchId: 0, by: { recorder: 'r' }, steps });
  await submit('start', { op: 'start', name: 'h' });
  const verified = async () => {
    await handler.close();
    await rows.catchUp();
    return verifyReplay(rows, { scratch: openMemoryRowStore });
  };
  return { submit, handler, verified };
};

const block = (content: string | object, more: object = {}): Step =>
  ({ op: 'insert', parent: '^ah', node: { nodeType: 'cb', role: 'user', content, ...more } }) as Step;

it(
  'what the owner of a command does to it later changes neither the record nor the next snapshot',
  { tags: ['record§3:checked-before-append'] },
  async () => {
    const { handler, submit, verified } = await opened();
    const content = { parts: ['asked'] };
    const data_more = ['more'];
    const steps = [
      block(content, { data_more }),
      { op: 'policy', policy: { max_blocks: 5, keep_turns: 1, pins: [] } },
    ];
    const command = {
      id: 'c1',
      history,
      branchId: 0,
      by: { recorder: 'r' },
      steps: steps as Step[],
    } satisfies Command;
    const submitted = handler.submit(command);
    content.parts.push('changed at once');
    await submitted;
    content.parts.push('changed later');
    data_more.push('changed later');
    const { events } = await submit('c2', block('answered'), { op: 'commit' });
    expect(events.map(({ type }) => type)).toEqual(['NodeInserted', 'TurnSealed', 'SnapshotCommitted']);
    const repeated = await handler.submit({
      ...command,
      steps: [block({ parts: ['asked'] }, { data_more: ['more'] }), steps[1] as Step],
    });
    expect(repeated.repeated).toBe(true);
    expect((await verified()).differences).toBe(0);
  },
);

it(
  'a command that was decided but cannot be written leaves nothing behind',
  { tags: ['long', 'record§3:refusals-forgotten'] },
  async () => {
    const { submit, verified } = await opened();
    const many = Array.from({ length: 14 }, (_, i) =>
      block(`${i}`.padEnd(20 * 1024 * 1024, 'x'), { id: `large-${i}` }),
    );
    await expect(submit('c1', block('small', { id: 'a' }), ...many)).rejects.toMatchObject({
      code: 'E_FRAME_TOO_LARGE',
    });
    const { events } = await submit('c2', block('small', { id: 'a' }), { op: 'commit' });
    expect(events.map(({ type }) => type)).toEqual(['NodeInserted', 'TurnSealed', 'SnapshotCommitted']);
    expect((await verified()).differences).toBe(0);
  },
);
