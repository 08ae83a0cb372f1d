import { endOfRerun, type StepOf } from '@stemma/history';
import { expect, test } from 'vitest';
import { seriousFaults } from './axe.ts';
import { COMMIT, insert, recorderOf } from './record-histories.ts';
import { paramOf, useStage } from './stage.ts';

const LOUD = '<img src=x onerror=alert(1)> <script>alert(2)</script> \u202Eexe.gpj';

const stage = useStage(async (client) => {
  const record = recorderOf(client);
  for (const name of ['shop', 'other'])
    await client.start({ body: { id: `start-${name}`, recorder: 'test', name } });
  for (let n = 1; n <= 3; n++) await record('shop', insert(`q${n}`, 'user', `question ${n}`), COMMIT);
  await client.command({
    history: 'shop',
    body: { id: 'fork', actor: 'ann', notes: 'live', steps: [{ op: 'fork', name: 'what-if', at: '@c2' }] },
  });
  const { home } = stage;
  const { history } = await home.find('shop');
  const counts = { same: 2, otherOrder: 0, bound: 0, differs: 0, extra: 0, missing: 0, live: 0, notKept: 0 };
  const rerun = (id: string, given: Partial<StepOf<'end_rerun'>>): Promise<unknown> =>
    home.submit({
      ...{ id: endOfRerun(id), history, branchId: 0, by: { actor: 'ann' }, notes: LOUD },
      steps: [
        {
          ...{
            op: 'end_rerun',
            rerun: id,
            of: null,
            command: ['python', 'agent.py', LOUD],
            directory: '/work',
          },
          ...{ commit: null, startedAt: 1_764_295_300_000, endedAt: 1_764_295_300_250, exit: 0, counts },
          ...{ end: { exitCode: 0, signal: null }, bindings: [], difference: null, ...given },
        },
      ],
    });
  await rerun('rerun-1', {});
  await rerun('rerun-2', {
    exit: 5,
    counts: { ...counts, same: 1, differs: 1, missing: 1, live: 1 },
    bindings: [{ kind: 'uuid', count: 2 }],
    difference: { label: '@c2', message: 2, cause: 'tool result', node: 'q2' },
    calls: [
      { label: '@c1', how: 'same' },
      { label: '@c2', how: 'differs' },
      { label: LOUD, how: 'live' },
      { label: '@c3', how: 'missing' },
    ],
    forks: [{ history, branchId: 5 }],
    texts: {
      difference: {
        ...{ role: 'tool', name: null, gone: 0, by: '@s2' },
        recorded: { name: null, value: `equal\nequal\nequal\npier-2: 3 ships ${LOUD}` },
        now: { name: null, value: `equal\nequal\nequal\npier-2: 9 ships ${LOUD}` },
        askedBy: { tool: 'lookup', arguments: LOUD, call: '@c1' },
        shownTo: { first: '@c2', last: '@c3', calls: 2, tokens: 1155 },
      },
      world: [
        {
          call: '@c3',
          tool: LOUD,
          recorded: { name: null, value: 'one' },
          now: { name: null, value: 'two' },
        },
      ],
    },
  });
});

test('a rerun is shown with its first difference, the cause, what hung on it, its fork and what to ask next', async () => {
  const { page, faults, screenshot } = await stage.open({ address: '?h=shop&show=rerun', width: 1440 });
  const outcome = page.getByRole('region', { name: 'What came of the rerun' });
  await outcome.waitFor();
  expect(await outcome.innerText()).toContain('@c2 differs: a tool gave something else');
  expect(await outcome.getByRole('list', { name: 'The calls' }).getByRole('listitem').count()).toBe(4);
  const part = page.getByRole('region', { name: 'What differs first' });
  const said = await part.innerText();
  for (const words of [
    'message 2, result of lookup(',
    'which @c1 asked for',
    '… 2 equal lines',
    'a tool gave something else; prompt, tools and parameters are the same',
    '@c2 … @c3 (2 calls, 1,155 tokens)',
    'stemma rerun shop --tools recorded -- python agent.py',
    'stemma rerun shop --from @c2',
  ])
    expect(said).toContain(words);
  expect(await part.locator('del').first().innerText()).toBe('3');
  expect(await part.locator('ins').first().innerText()).toBe('9');
  await screenshot('rerun-view');
  expect(await seriousFaults(page)).toEqual([]);
  await part.getByRole('button', { name: 'q2' }).click();
  await expect
    .poll(() => [paramOf(page, 'at'), paramOf(page, 'node'), paramOf(page, 'show')])
    .toEqual(['@c2', 'q2', null]);
  await page.goBack();
  await part.getByRole('button', { name: 'compare it with the recording' }).click();
  await expect
    .poll(() => [paramOf(page, 'show'), paramOf(page, 'a'), paramOf(page, 'b')])
    .toEqual(['compare', '0', '5']);
  expect(faults).toEqual([]);
});

test('another rerun is chosen by keys and stays in the address, dark and narrow', async () => {
  const { page, faults, screenshot } = await stage.open({
    ...{ address: '?h=shop', width: 390, height: 844, colorScheme: 'dark' },
  });
  await page.getByRole('main').waitFor();
  await page.keyboard.press('r');
  await expect.poll(() => paramOf(page, 'show')).toBe('rerun');
  const list = page.getByRole('navigation', { name: 'Reruns' });
  await expect.poll(() => list.getByRole('button').count()).toBe(2);
  await list.getByRole('button').nth(1).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => paramOf(page, 'filter')).toBe('rerun-1');
  const outcome = page.getByRole('region', { name: 'What came of the rerun' });
  await expect
    .poll(() => outcome.innerText())
    .toContain('All 2 calls that were answered from the recording are the same');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await screenshot('rerun-view-narrow');
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('a history without reruns says how to make one', async () => {
  const { page, faults } = await stage.open({ address: '?h=other&show=rerun' });
  await page.getByText('./stemma rerun other -- python agent.py').waitFor();
  expect(await seriousFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});
