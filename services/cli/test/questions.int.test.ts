import { afterAll, beforeAll, expect, test } from 'vitest';
import { join } from 'node:path';
import { keepHomeOpen, runStemma, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(folder.path);
const sample = join(import.meta.dirname, '../../../samples/slow-checkout.steps.jsonl');
const run = (...args: string[]) => runStemma([...args, '--home', folder.path]);

beforeAll(async () => {
  expect((await run('import', sample, '--history', 'checkout')).code).toBe(0);
});

test('blame lists the messages with their authors, or every part of some bytes', async () => {
  const { stdout } = await run('blame', 'checkout', '@c5');
  expect(stdout).toContain('@c5: 4170 bytes');
  expect(stdout).toMatch(/3\.1 NodeReplaced .* plan +697-857 +\(inserted 0\.3\) Plan/);
  const parts = (await run('blame', 'checkout', '@c5', '--bytes', '0-12')).stdout;
  expect(parts).toMatch(/\(the list\) +array +0-1 +\[/);
  expect((await run('blame', 'checkout', '@c5', '--bytes', '12-3')).code).toBe(64);
});

test('cache names what changed each prefix, and the cost', async () => {
  const { stdout } = await run('cache', 'checkout');
  expect(stdout).toContain('18 calls: 3 append, 0 rewind, 14 break');
  expect(stdout).toMatch(/@c9 +break .* plan replaced by import at 8\.0; inserted at 0\.3 by import/);
  expect(stdout).toMatch(/@c3 +break .* incident-2025-11 expired at 2\.4; inserted at 0\.6 by import/);
  expect((await run('cache', 'checkout', '--all')).stdout).toMatch(/@c2 +append/);
});

test.each([80, 200])(
  'on a terminal of %i columns the lists fit the width, and keep their main columns',
  async (columns) => {
    const at = async (...args: string[]) =>
      (await runStemma([...args, '--home', folder.path], { columns })).stdout.split('\n');
    const cache = await at('cache', 'checkout', '--all');
    const list = cache.slice(cache.findIndex((line) => line.startsWith('call')));
    expect(list.filter((line) => line.length > columns)).toEqual([]);
    expect(
      cache.some((line) => line.endsWith('incident-2025-11 expired at 2.4; inserted at 0.6 by import')),
    ).toBe(true);
    const blame = await at('blame', 'checkout', '@c5');
    expect(blame.filter((line) => line.length > columns)).toEqual([]);
    expect(blame.find((line) => line.includes(' plan '))).toMatch(/^3\.1 .* 697-857 +\(inserted 0\.3\) Plan/);
  },
);

test(
  'in a history whose threads are pre-contexts blame covers what is shown, and cache what a new turn hides',
  { tags: ['context-tree§4:thread-pre'] },
  async () => {
    const act = async (...args: string[]): Promise<void> => {
      const { code, stderr } = await run(...args, '--recorder', 'agent');
      expect([code, stderr]).toEqual([0, '']);
    };
    await act('start', '--name', 'pre', '--thread', 'pre');
    for (const cycle of ['1', '2']) {
      await act(
        'insert',
        'pre',
        '--id',
        `context-${cycle}`,
        '--offset',
        '-1',
        '--content',
        `Context ${cycle}`,
      );
      await act('insert', 'pre', '--id', `core-${cycle}`, '--content', 'Not shown.');
      await act('commit', 'pre');
    }
    expect((await run('cache', 'pre')).stdout).toMatch(
      /@c2 +break .* context-1 sealed into t:0:2 by agent at 6\.0/,
    );
    const { stdout } = await run('blame', 'pre', '@c2');
    expect(stdout).toMatch(/4\.0 NodeInserted .* agent +c2 +context-2 .* Context 2/);
    expect(stdout).not.toMatch(/core|context-1/);
    expect((await run('start', '--thread', 'half')).code).toBe(64);
  },
);

test('bisect finds the snapshot and prints the difference; wrong ends and wrong usage have their own exit codes', async () => {
  const ends = ['--good', '@c6', '--bad', '@c18'];
  const { stdout } = await run('bisect', 'checkout', ...ends, '--when-not', '#call-04');
  expect(stdout).toContain('@c15 is the first bad snapshot; @c14');
  expect(stdout).toMatch(/- call-04 +assistant: deploys_list.*\n +pruned \(max_blocks, rank 0\) at 14\.5/);
  expect((await run('bisect', 'checkout', ...ends, '--when', '#call-04')).code).toBe(64);
  expect((await run('bisect', 'checkout', ...ends)).stderr).toContain('E_USAGE');
});

test('watch refuses a query whose answer never changes', async () => {
  const { code, stderr } = await run('watch', 'checkout', '@c3 .cb');
  expect([code, stderr.includes('E_USAGE')]).toEqual([64, true]);
});
