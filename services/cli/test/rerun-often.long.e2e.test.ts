import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRerunBench } from './rerun-agent.ts';

let bench: Awaited<ReturnType<typeof openRerunBench>>;
let shop: string;
beforeAll(async () => {
  bench = await openRerunBench();
  shop = await bench.record('shop');
});
afterAll(() => bench.close());

type Arm = {
  readonly arm: string;
  readonly passed: number;
  readonly tried: number;
  readonly interval: readonly [number, number];
  readonly live_calls: number;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly reruns: readonly { readonly [name: string]: unknown }[];
  readonly against: { readonly [name: string]: unknown } | null;
};
const armsOf = (report: unknown): readonly Arm[] => (report as { readonly arms: readonly Arm[] }).arms;

describe('--times', () => {
  test('runs that are answered from the recording make no branch, and each is recorded', async () => {
    const { code, report, asked } = await bench.rerun('shop', {}, '--times', '3');
    expect([code, asked]).toEqual([0, []]);
    expect(report).toMatchObject({ times: 3, jobs: 1, exit: 0, against: 'recording' });
    const [only, ...others] = armsOf(report);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ passed: 3, tried: 3, live_calls: 0, cost: null });
    expect(only?.reruns.map(({ exit, passed, branches }) => [exit, passed, branches])).toEqual([
      [0, true, []],
      [0, true, []],
      [0, true, []],
    ]);
    expect(only?.against).toMatchObject({ verdict: null, why: 'no call went to a provider' });
    await bench.inHome('shop', async ({ calls }) => {
      const { reruns } = await calls.runs(shop);
      expect(reruns.map(({ arm, check, forks }) => [arm, check, forks])).toEqual([
        ['rerun', null, []],
        ['rerun', null, []],
        ['rerun', null, []],
      ]);
    });
  });

  test('what a check finds decides whether a run has passed, and is recorded', async () => {
    const seen = join(bench.directory, 'seen');
    // Every second run leaves the file behind.
    const check = `if [ -e '${seen}' ]; then rm '${seen}'; echo it is there; exit 3; else touch '${seen}'; fi`;
    const { code, report, stderr } = await bench.rerun('shop', {}, '--times', '4', '--verify', check);
    expect(code).toBe(1);
    const [only] = armsOf(report);
    expect(only).toMatchObject({ passed: 2, tried: 4 });
    expect(only?.reruns.map(({ check: code, exit }) => [code, exit])).toEqual([
      [0, 0],
      [3, 1],
      [0, 0],
      [3, 1],
    ]);
    expect(stderr).toContain('run 2 of rerun ended with 0, its check with 3');
    expect(stderr).toContain('  it is there');
    await bench.inHome('shop', async ({ calls }) => {
      const { reruns } = await calls.runs(shop);
      expect(reruns.slice(-4).map((rerun) => rerun.check?.end.exitCode)).toEqual([0, 3, 0, 3]);
      expect(reruns.at(-1)?.check?.command).toBe(check);
    });
  });

  test('of runs that differ the first difference is counted', async () => {
    const { code, report } = await bench.rerun('shop', { RESULT: 'snow' }, '--times', '2');
    expect(code).toBe(5);
    expect(armsOf(report)[0]?.reruns.map(({ first_difference }) => first_difference)).toEqual([
      { call: '@c2', message: 4, cause: 'tool result' },
      { call: '@c2', message: 4, cause: 'tool result' },
    ]);
  });

  test('live runs are branches, compared with a control', async () => {
    const file = bench.file('snow.txt', 'snow');
    const { code, report } = await bench.rerun(
      'shop',
      {},
      ...['--edit', `@c2=${file}`, '--times', '4', '--jobs', '2', '--control', '--name', 'snow'],
    );
    expect(code).toBe(0);
    expect(report).toMatchObject({ against: 'control', jobs: 2 });
    const [changed, control] = armsOf(report);
    expect([changed?.passed, control?.arm, control?.against]).toEqual([4, 'control', null]);
    expect(changed?.reruns.map(({ branches }) => branches)).toEqual(
      [1, 2, 3, 4].map((number) => [`${shop}:snow-${number}`]),
    );
    expect(changed?.live_calls).toBe(8);
    expect(changed?.tokens.input).toBeGreaterThan(0);
    expect(changed?.against).toMatchObject({ passed: 4, tried: 4, p: 1, needed: null, why: null });
    expect(changed?.against?.['verdict']).toMatchObject({ judged: true });
    expect((await bench.run('shop', ['verify'])).code).toBe(0);
    // The arms are branches that can be named to the verdict by hand.
    const numbered = (name: string): string[] => [2, 3, 4].map((number) => `${name}-${number}`);
    const { stdout } = await bench.run('shop', [
      ...['verdict', shop, 'snow-1', 'snow-control-1', '--json'],
      ...['--runs', ...numbered('snow'), '--runs-b', ...numbered('snow-control')],
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: (changed?.against?.['verdict'] as { verdict: string }).verdict,
    });
  });
});

describe('--models', () => {
  test('each model is an arm whose calls ask it from the first one on', async () => {
    const { code, report, asked } = await bench.rerun(
      'shop',
      {},
      ...['--models', 'small,large:v2', '--times', '2', '--name', 'models'],
    );
    expect(code).toBe(0);
    expect(
      armsOf(report).map(({ arm, passed, tried, live_calls }) => [arm, passed, tried, live_calls]),
    ).toEqual([
      ['small', 2, 2, 6],
      ['large:v2', 2, 2, 6],
    ]);
    const models = asked.map((body) => (JSON.parse(body) as { readonly model: string }).model);
    // The arms take turns.
    expect(models.filter((model, i) => model !== models[i - 1])).toEqual([
      'small',
      'large:v2',
      'small',
      'large:v2',
    ]);
    const { stdout } = await bench.run('shop', ['branches', shop]);
    for (const branch of ['models-small-1', 'models-large-v2-2']) expect(stdout).toContain(branch);
  });

  test('the text is one table, with the verdict against the recording', async () => {
    const { code, stdout } = await bench.run('shop', [
      ...['rerun', shop, '--models', 'small', '--times', '2', '--verify', 'exit 1', '--', ...bench.command],
    ]);
    expect(code).toBe(1);
    const [head = '', row = ''] = stdout.split('\n');
    expect(head.split(/ {2,}/)).toEqual([
      'arm',
      'passed',
      '95 %',
      'tokens',
      'cost',
      'time',
      'against the recording',
    ]);
    expect(row.split(/ {2,}/)[1]).toBe('0 of 2');
    expect(stdout).toContain('runs in each arm are needed at least (--times, --control)');
  });
});

describe('one rerun', () => {
  test('--verify checks what it left behind', async () => {
    const mark = join(bench.directory, 'mark');
    const passed = await bench.rerun('shop', {}, '--verify', `echo checked; touch '${mark}'`);
    expect([passed.code, passed.report['check'], existsSync(mark)]).toEqual([0, 0, true]);
    const failed = await bench.rerun('shop', {}, '--verify', 'exit 7');
    expect([failed.code, failed.report['exit'], failed.report['check']]).toEqual([1, 1, 7]);
    const { stdout } = await bench.run('shop', ['rerun', shop, '--verify', 'exit 7', '--', ...bench.command]);
    expect(stdout).toContain('the check ended with 7');
  });
});

describe('what cannot be is refused before anything is started', () => {
  const refusals: readonly (readonly [string, readonly string[], string])[] = [
    ['no number', ['--times', '0'], '--times'],
    ['jobs without times', ['--jobs', '2'], '--jobs needs --times or --models'],
    ['a control without times', ['--control'], '--control needs --times or --models'],
    ['a control where nothing is live', ['--times', '2', '--control'], 'a control is live'],
    ['a model twice', ['--models', 'a,a'], 'twice'],
    ['no model', ['--models', 'a,,b'], 'commas between them'],
    ['two sayings of a model', ['--models', 'a', '--mind', 'openai:b'], '--models and --mind'],
    ['learning often', ['--times', '2', '--learn'], 'leave out --times'],
    ['a mind of another API', ['--models', 'anthropic:x'], 'name a mind of that API'],
  ];
  test.each(refusals)('%s', async (_name, options, words) => {
    const mark = join(bench.directory, 'started');
    const { code, stderr } = await bench.run('shop', [
      ...['rerun', shop, ...options, '--', 'sh', '-c', `touch '${mark}'`],
    ]);
    expect([code, existsSync(mark)]).toEqual([64, false]);
    expect(stderr).toContain(words);
  });
});

test('the recorded facts of all these runs are rebuilt with the same bytes', async () => {
  expect((await bench.run('shop', ['replay', '--verify'])).code).toBe(0);
  expect(readFileSync(join(bench.directory, 'agent.mjs'), 'utf8')).toContain('And tomorrow?');
});
