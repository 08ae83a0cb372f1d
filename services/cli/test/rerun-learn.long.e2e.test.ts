import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRerunBench } from './rerun-agent.ts';

let bench: Awaited<ReturnType<typeof openRerunBench>>;
beforeAll(async () => {
  bench = await openRerunBench();
});
afterAll(() => bench.close());

test('what differs between two reruns is proposed as a mask, and recorded if an actor is named', async () => {
  const [home, env] = ['learn', { WORKER: '1' }];
  const shop = await bench.record(home, env);
  const differs = await bench.rerun(home, env);
  expect([differs.code, differs.report['differs']]).toEqual([5, 1]);

  const shown = await bench.rerun(home, env, '--learn');
  expect([shown.code, shown.report['differs'], shown.asked]).toEqual([5, 3, []]);
  const mask = {
    name: 'system-1',
    pattern: ' Worker \\d{1,64} asks\\.',
    in: 'system',
    call: '@c1',
    message: 1,
  };
  const learned = shown.report['learned'] as readonly { readonly pattern: string }[];
  expect(learned).toMatchObject([
    { ...mask, pattern: expect.stringContaining(mask.pattern) as string, recorded: false },
  ]);
  expect((await bench.rerun(home, env)).code).toBe(5);

  const kept = await bench.rerun(home, env, '--learn', '--actor', 'ada', '--notes', 'it says its process');
  expect(kept.report['learned']).toMatchObject([{ recorded: true }]);
  const bound = await bench.run(home, ['rerun', shop, '--', ...bench.command], env);
  expect([bound.code, bound.stdout]).toEqual([
    0,
    expect.stringContaining('the mask system-1 bound 3 values'),
  ]);
  // What the prompt says besides is compared as before, and nothing is left to learn.
  const other = await bench.rerun(home, { ...env, PROMPT: 'You know nothing.' });
  expect(other.code).toBe(5);
  const again = await bench.rerun(home, env, '--learn');
  expect([again.code, again.report['learned']]).toEqual([0, []]);
  const { stdout } = await bench.run(home, ['interventions', shop, '--json']);
  expect(stdout).toContain('it says its process');
});

test('a mask of the command line holds in every text', async () => {
  const [home, env] = ['mask', { WORKER: '1' }];
  await bench.record(home, env);
  const { code, report } = await bench.rerun(home, env, '--mask', 'worker=Worker [0-9]+');
  expect([code, report['bound']]).toEqual([0, 3]);
  const question = await bench.rerun(home, env, '--learn', '--from', '@c2');
  expect([question.code, question.stdout]).toEqual([
    64,
    expect.stringContaining('--learn answers every call'),
  ]);
});
