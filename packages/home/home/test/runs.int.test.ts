import { endOfRerun, recordOfRun, type StepOf } from '@stemma/history';
import { open, type Home, openHome, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

const by = { recorder: 'proxy' };
const ann = { actor: 'ann' };

const send = async (home: Home, id: string, text: string, place: Place): Promise<string> => {
  const messages = [{ role: 'user', content: text }];
  const { within, run } = place;
  const { branch } = await home.calls.recordRequest({
    ...{ id, by, messages, within },
    facts: {
      ...{ api: 'openai.chat', model: 'm', parameters: {}, tools: null },
      request: Buffer.from(JSON.stringify({ messages })),
      ...(run !== undefined && { run }),
    },
  });
  return branch.history;
};
type Place = { readonly within: { run: string } | { history: string }; readonly run?: string };

const RAN = {
  directory: '/work',
  commit: { id: '0f'.repeat(20), changed: true },
  startedAt: 10,
  endedAt: 25,
  end: { exitCode: 3, signal: null },
};
const recordRun = (home: Home, history: string, run: string, ...command: string[]) =>
  home.submit({
    ...{ id: recordOfRun(run), history, branchId: 0, by: { recorder: 'record' } },
    steps: [{ op: 'record_run', run, command, variables: ['OPENAI_BASE_URL'], ...RAN }],
  });
const COUNTS = { same: 3, otherOrder: 1, bound: 0, differs: 1, extra: 0, missing: 0, live: 0, notKept: 0 };
const DIFFERENCE = { label: '@c4', message: 8, cause: 'tool result', node: 'n:0:4:1' };
const rerunOf = (of: string | null): StepOf<'end_rerun'> => ({
  ...{ op: 'end_rerun', rerun: 'rerun-1', of, command: ['python', 'agent.py'], ...RAN, exit: 5 },
  ...{ counts: COUNTS, bindings: [{ kind: 'uuid', count: 2 }], difference: DIFFERENCE },
});

test('runs into one history are told apart, and each says what was run', async () => {
  using at = temporaryHome();
  const home = await openHome({ directory: at.directory, create: true });
  const history = await send(home, 'c1', 'one', { within: { run: 'r1' } });
  await send(home, 'c2', 'two', { within: { history }, run: 'r2' });
  await send(home, 'c3', 'three', { within: { history }, run: 'r2' });
  await send(home, 'c4', 'four', { within: { history } });
  const other = await send(home, 'c5', 'five', { within: { run: 'r1' } });
  const { seq } = await recordRun(home, history, 'r1', 'python', 'agent.py');

  const program = {
    ...{ history, seq, command: ['python', 'agent.py'], isRedacted: false, ...RAN },
    variables: ['OPENAI_BASE_URL'],
  };
  const { runs, reruns, total } = await home.calls.runs(history);
  expect(runs).toEqual([
    { run: 'r1', calls: 1, at: 10, program },
    { run: 'r2', calls: 2, at: expect.any(Number) as number, program: null },
  ]);
  expect([reruns, total]).toEqual([[], { runs: 2, reruns: 0 }]);
  expect((await home.calls.runs(history, 1)).runs.map(({ run }) => run)).toEqual(['r2']);
  // Another history with calls of the run finds it, too.
  expect((await home.calls.runs(other)).runs).toEqual([{ run: 'r1', calls: 1, at: 10, program }]);
  expect(await home.calls.run('r1')).toEqual(program);
  expect(await home.calls.run('r2')).toBeUndefined();
  expect(await home.calls.historiesOfRun('r1')).toEqual(expect.arrayContaining([history, other]));
  const attempts = await Promise.all(['c1', 'c2', 'c4'].map((id) => home.calls.find(history, id)));
  expect(attempts.map(({ run }) => run)).toEqual(['r1', 'r2', null]);

  // One that belongs elsewhere counts there, and is still of its run.
  const [assigned] = await home.calls.assignCall(
    { history, attemptId: 'c3' },
    { newHistory: 'apart' },
    { by: ann, notes: '' },
  );
  const { history: apart } = assigned?.to ?? { history: '' };
  const counted = async (which: string) =>
    (await home.calls.runs(which)).runs.map(({ run, calls }) => [run, calls]);
  expect(await counted(history)).toEqual([
    ['r1', 1],
    ['r2', 1],
  ]);
  expect(await counted(apart)).toEqual([['r2', 1]]);
  await home.close();
});

const NONE = { arm: null, check: null, forks: [], details: null };

test('what came of a rerun is an intervention, and is listed with its run', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  const history = await send(home, 'c1', 'one', { within: { run: 'r1' } });
  const other = await send(home, 'c2', 'two', { within: { run: 'r1' } });
  const base = { id: endOfRerun('rerun-1'), history, branchId: 0, steps: [rerunOf('r1')] };
  await expect(home.submit({ ...base, by })).rejects.toMatchObject({ code: 'E_ACTOR_REQUIRED' });
  await expect(home.submit({ ...base, id: 'x', by: ann })).rejects.toMatchObject({
    code: 'E_COMMAND_INVALID',
  });
  const { seq } = await home.submit({ ...base, by: ann, notes: 'again' });
  // Sent twice, it ended once.
  expect((await home.submit({ ...base, by: ann, notes: 'again' })).seq).toBe(seq);

  const { op: _op, ...said } = rerunOf('r1');
  const rerun = { history, branchId: 0, seq, actor: 'ann', notes: 'again', ...said, ...NONE };
  expect((await home.calls.runs(history)).reruns).toEqual([rerun]);
  expect((await home.calls.runs(other)).reruns).toEqual([rerun]);
  const found = await home.queries.audit.interventions(await home.find(history), { type: 'rerun' });
  const [intervention] = found.interventions;
  expect(intervention).toMatchObject({
    ...{ intervention_type: 'rerun', actor: 'ann', notes: 'again' },
    content: { rerun: 'rerun-1', of: 'r1', exit: 5, counts: COUNTS, difference: DIFFERENCE },
  });
  expect(intervention?.snapshot_before).toBe(intervention?.snapshot_after);
  expect(await home.operations.verify()).toMatchObject({ ok: true, problems: [] });
  expect(await home.operations.replay({ verify: true, batches: [1, 3], stops: true })).toMatchObject({
    differences: 0,
  });
  await home.close();
});

test('no secret of a command is recorded, and it is known that there was one', async () => {
  using at = temporaryHome();
  const redact = { patterns: [{ name: 'hush', pattern: 'hush-[0-9a-z]+' }] };
  const home = await openHome({ directory: at.directory, create: true, redact });
  const history = await send(home, 'c1', 'one', { within: { run: 'r1' } });
  await recordRun(home, history, 'r1', 'python', '--key', 'hush-1');
  const program = await home.calls.run('r1');
  expect(program).toMatchObject({ isRedacted: true, directory: '/work' });
  expect(JSON.stringify(program)).not.toContain('hush-');
  await home.close();
});

const KEY = `sk-proj-${'a1B2c3D4'.repeat(6)}`;

test('a rerun is recorded with what its report shows: bounded, and secrets are taken out before texts are cut', async () => {
  using at = temporaryHome();
  const home = await openHome({ directory: at.directory, create: true, redact: {} });
  const history = await send(home, 'c1', 'one', { within: { run: 'r1' } });
  const [recorded, now] = ['3', '9'].map(
    (ships) => `${'a '.repeat(5_000)}${ships} ships, key ${KEY}${' z'.repeat(5_000)}`,
  );
  const step: StepOf<'end_rerun'> = {
    ...rerunOf('r1'),
    calls: Array.from({ length: 300 }, (_, i) => ({ label: `@c${i + 1}`, how: 'same' })),
    texts: {
      difference: {
        ...{ role: 'tool', name: null, gone: 0, by: '@s4' },
        recorded: { name: null, value: recorded ?? '' },
        now: { name: null, value: now ?? '' },
        askedBy: { tool: 'lookup', arguments: `{"key":"${KEY}"}`, call: '@c3' },
        shownTo: { first: '@c4', last: '@c6', calls: 3, tokens: 1155 },
      },
      world: [{ call: '@c2', tool: 'look', recorded: { name: 'api_key', value: 'of-nobody-9' }, now: null }],
    },
  };
  await home.submit({ id: endOfRerun('rerun-1'), history, branchId: 0, by: ann, notes: '', steps: [step] });
  const [rerun] = (await home.calls.runs(history)).reruns;
  const details = rerun?.details ?? null;
  expect(JSON.stringify(details)).not.toMatch(/sk-proj|a1B2|of-nobody/);
  expect(details?.calls).toHaveLength(200);
  expect(details?.difference).toMatchObject({
    ...{ role: 'tool', by: '@s4', isWhole: false, shownTo: { first: '@c4', last: '@c6' } },
    recorded: expect.stringMatching(/^….*a 3 ships, key .*z…$/s) as string,
    now: expect.stringMatching(/^….*a 9 ships, key .*z…$/s) as string,
  });
  expect(details?.difference?.now?.length).toBeLessThan(4_100);
  expect(details?.world).toMatchObject([{ call: '@c2', tool: 'look', now: null, isWhole: true }]);
  await home.close();
});
