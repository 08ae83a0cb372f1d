import { exportTree } from '@stemma/context-tree';
import { historyId, type Command, type Step } from '@stemma/history';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openHome, type Home } from '../src/index.ts';

const made: string[] = [];
const opened: Home[] = [];
afterEach(async () => {
  for (const home of opened.splice(0)) await home.close();
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

const directoryOf = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-home-'));
  made.push(directory);
  return directory;
};

const open = async (directory: string, clock: () => bigint): Promise<Home> => {
  const home = await openHome({ directory, create: true, clock });
  opened.push(home);
  return home;
};

const command = (history: string, id: string, ...steps: readonly Step[]): Command => ({
  id,
  history,
  lineage: 0,
  by: { actor: 'ada' },
  steps: [...steps],
});

const start = (name: string | null, id: string): Command =>
  command(historyId(name, id), id, { op: 'start', name });

const block = (id: string): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', content: id },
});

test('the clock is read once for a command, and what it said stands in the frame as in the nodes [record §1: at] [context-tree §2: nanoseconds]', async () => {
  const directory = directoryOf();
  let read = 0;
  let now = 1_724_670_000_000_000_001n;
  const home = await open(directory, () => (read++, now++));
  const history = historyId('timed', '');
  await home.submit(start('timed', 'first'));
  await home.submit(command(history, 'second', block('a'), block('b'), { op: 'commit' }));
  await home.submit(command(history, 'second', block('a'), block('b'), { op: 'commit' }));
  expect(read).toBe(2);
  const events = await home.events(history);
  expect(events.map(({ seq, at }) => [seq, at])).toEqual([
    [0, 1_724_670_000_000],
    ...Array.from({ length: 4 }, () => [1, 1_724_670_000_000]),
  ]);
  const again = await open(directory, () => 0n);
  const line = await again.find('timed');
  const { tree, payloads } = await again.view(await again.position(line, '@c1'));
  expect(exportTree(tree, payloads).match(/"created_at_ns":17\d+/g)).toEqual(
    Array.from({ length: 3 }, () => '"created_at_ns":1724670000000000002'),
  );
});

test('a start that is sent twice makes one history, named or not; another start under the name is refused [record §3: repeated start]', async () => {
  const home = await open(directoryOf(), () => 1n);
  for (const first of [start('mine', 'start-1'), start(null, 'start-2')]) {
    const answer = await home.submit(first);
    expect(await home.submit(first)).toEqual({ ...answer, repeated: true });
  }
  await expect(home.submit(start('mine', 'start-3'))).rejects.toMatchObject({ code: 'E_HISTORY_EXISTS' });
  expect((await home.histories()).map(({ history, frames }) => [history, frames])).toEqual(
    expect.arrayContaining([
      [historyId('mine', ''), 1],
      [historyId(null, 'start-2'), 1],
    ]),
  );
  expect(await home.histories()).toHaveLength(2);
});

test('a history is found by its name, its id or the beginning of it, a lineage by its own id, and a reference may carry one [context-tree §5: lineage references] [context-tree §5: missing end]', async () => {
  const home = await open(directoryOf(), () => 1n);
  const history = historyId('mine', '');
  await home.submit(start('mine', 'start'));
  await home.submit(command(history, 'one', block('a'), { op: 'commit' }));
  await home.submit(start('other', 'start other'));
  const line = { history, strand: 0, lineage: history };
  for (const name of ['mine', history, history.slice(0, 8), `${history}:0`, 'mine:0'])
    expect(await home.find(name)).toEqual(line);
  const other = await home.find('other');
  for (const ref of ['mine@c1', `${history}:0@t0`, '@c1'])
    expect(await home.position(line, ref)).toEqual({
      history,
      strand: 0,
      seq: 1,
      cycle: 1,
      committed: true,
      label: '@c1',
    });
  await expect(home.find('nobody')).rejects.toMatchObject({ code: 'E_HISTORY_NOT_FOUND' });
  await expect(home.find('mine:nobody')).rejects.toMatchObject({ code: 'E_LINEAGE_NOT_FOUND' });
  await expect(home.position(line, 'mine@c2')).rejects.toMatchObject({ code: 'E_SNAPSHOT_NOT_FOUND' });
  await expect(home.position(other, '@c1')).rejects.toMatchObject({ code: 'E_SNAPSHOT_NOT_FOUND' });
});

test('selecting gives the same ids however often it is asked, and writes nothing [context-tree §6: pure] [PACT 06 §3.1] [context-tree §4: reading changes nothing]', async () => {
  const home = await open(directoryOf(), () => 1n);
  const history = historyId('mine', '');
  await home.submit(start('mine', 'start'));
  await home.submit(command(history, 'one', block('b'), block('a'), { op: 'commit' }));
  const line = await home.find('mine');
  const look = async (): Promise<unknown> => {
    const position = await home.position(line, '@c1');
    const { tree, payloads } = await home.view(position);
    return [
      await home.select(line, '@c1 .mt .cb'),
      await home.diff(line, '@s0', '@c1'),
      exportTree(tree, payloads),
    ];
  };
  const before = await look();
  expect(before).toMatchObject([
    { ids: ['b', 'a'] },
    { added: ['t:0:1', 'b', 'a'] },
    expect.stringContaining('PACT/0.1.0'),
  ]);
  expect([await look(), await look()]).toEqual([before, before]);
  expect(await home.history(history)).toMatchObject({ frames: 2 });
  expect(await home.verify()).toMatchObject({ ok: true });
});
