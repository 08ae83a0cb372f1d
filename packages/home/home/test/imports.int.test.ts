import type { ImportSummary } from '@stemma/events';
import { importStep } from '@stemma/history';
import { filesHolding } from '@stemma/test-kit';
import { named, open, say, send, start, temporaryHome } from '@stemma/test-kit/home';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SUMMARY: ImportSummary = {
  calls: 2,
  models: { 'claude-x': 2 },
  usage: { input: 7, cached_input: 90 },
  first_at: '2026-11-28T10:00:00.000Z',
  fidelity: { reconstructed: 2 },
  missing: { tools: 2 },
  dropped: { 'line queue-operation': 3 },
  warnings: [{ code: 'W_LINE_CUT', count: 1, first: 'line 88' }],
};
const FACTS = { format: 'claude-code', version: '2.1.7', title: 'Late parcel', summary: SUMMARY };

test('a history tells what it was imported from, and the newest import counts', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await start(home, 'a');
  await say(home, 'a', 'one');
  const before = await home.read.history(named('a'));
  expect(before.import).toBeNull();
  await send(home, 'a', 'imported', [importStep(FACTS)]);
  const told = { format: 'claude-code', version: '2.1.7', title: 'Late parcel', ...SUMMARY };
  const after = await home.read.history(named('a'));
  expect(after.import).toEqual(told);
  expect([after.cycles, after.frames]).toEqual([before.cycles, before.frames + 1]);
  expect((await home.read.histories()).map((history) => history.import)).toEqual([told]);

  await say(home, 'a', 'two');
  await send(home, 'a', 'imported-more', [importStep({ format: 'claude-code', summary: { calls: 3 } })]);
  expect((await home.read.history(named('a'))).import).toEqual({ format: 'claude-code', calls: 3 });
  await home.close();
});

test('what an erasable history was imported from is sealed with the rest of it', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await send(home, 'a', 'start', [{ op: 'start', name: 'a', erasable: { subject: null } }]);
  await send(home, 'a', 'imported', [importStep({ ...FACTS, title: 'telltale-title' })]);
  expect((await home.read.history(named('a'))).import).toMatchObject({ title: 'telltale-title' });
  await home.close();
  expect(filesHolding(join(at.directory, 'log'), ['telltale-title'])).toEqual([]);
});
