import { openHome, type Home } from '@stemma/home';
import { viewPool } from '@stemma/pools';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parsePlan, planHash, recordedArms, runPlan, type RanPlan } from '../src/index.ts';

const PLAN = {
  question: 'Does a question change what is taken up?',
  pool: {
    name: 'sea',
    messages: ['The sea keeps stones.', 'A door is open.', 'We count names.', 'Who asks the night?'],
    settings: { sample_size: 2, active_pool_size: 20 },
  },
  part_at: 3,
  arms: [
    { name: 'alone', interventions: [] },
    {
      name: 'asked',
      interventions: [
        { inject: 'Could this be undone?', notes: 'the probe' },
        { config: { sample_size: 3 } },
      ],
    },
  ],
  repeats: 2,
  rounds: 4,
  measures: { verdicts: [['alone', 'asked']] },
};

let directories: string[] = [];
const homes: Home[] = [];
const newHome = async (): Promise<Home> => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-plan-'));
  directories.push(directory);
  const home = await openHome({ directory, create: true });
  homes.push(home);
  return home;
};
beforeEach(() => (directories = []));
afterEach(async () => {
  for (const home of homes.splice(0)) await home.close();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const textsOf = async (home: Home, { runs }: RanPlan): Promise<readonly (readonly string[])[]> => {
  const found: string[][] = [];
  for (const { branchRef } of runs)
    found.push((await viewPool(home, branchRef)).messages.map(({ text }) => text));
  return found;
};

test(
  'a plan is recorded before its first round, runs its arms, and all that is done is an intervention with its reason',
  { tags: ['pool:Interventions'] },
  async () => {
    const home = await newHome();
    const plan = parsePlan(PLAN);
    const ran = await runPlan(home, plan, { actor: 'ann' });
    expect(ran).toMatchObject({ hash: planHash(plan), error: null });
    expect(ran.runs.map(({ arm, name, seed }) => [arm, name, seed])).toEqual([
      ['alone', 'alone-1', 1],
      ['alone', 'alone-2', 2],
      ['asked', 'asked-1', 3],
      ['asked', 'asked-2', 4],
    ]);
    const saved = await home.branches.saved(ran.history);
    expect(saved).toMatchObject([{ id: `plan-${ran.hash.slice(0, 16)}`, round_number: null, actor: 'ann' }]);
    for (const { branchRef } of ran.runs) expect((await home.position(branchRef)).cycle).toBe(7);
    const { a, b } = await recordedArms(home, {
      a: ran.runs.slice(0, 2).map(({ branchRef }) => branchRef),
      b: ran.runs.slice(2).map(({ branchRef }) => branchRef),
    });
    expect([...a, ...b].map(({ steps }) => steps.length)).toEqual([4, 4, 4, 4]);
    const asked = ran.runs[2]?.branchRef;
    const { interventions } = await home.queries.audit.interventions(
      asked ?? { history: '', branchId: 0, branch: '' },
    );
    expect(interventions.find(({ intervention_type: type }) => type === 'message_inject')?.notes).toBe(
      'the probe',
    );
    // Again, nothing is done twice.
    const texts = await textsOf(home, ran);
    const { events } = await home.read.history(ran.history);
    expect(await runPlan(home, plan, { actor: 'ann' })).toEqual(ran);
    expect((await home.read.history(ran.history)).events).toBe(events);
    expect(await textsOf(home, ran)).toEqual(texts);
  },
);

test(
  'a plan that is stopped anywhere goes on to what it would have come to',
  { tags: ['pool:Runner'] },
  async () => {
    const plan = parsePlan(PLAN);
    const whole = await newHome();
    const expected = await textsOf(whole, await runPlan(whole, plan, { actor: 'ann' }));
    const home = await newHome();
    for (const stopAfter of [1, 3, 2]) {
      const stopped = new AbortController();
      let rounds = 0;
      const ran = await runPlan(home, plan, {
        actor: 'ann',
        atOnce: 2,
        signal: stopped.signal,
        progress: () => {
          if (++rounds === stopAfter) stopped.abort();
        },
      });
      expect(ran.error).toMatchObject({ code: 'E_CANCELLED' });
    }
    const ran = await runPlan(home, plan, { actor: 'ann', atOnce: 1 });
    expect(ran.error).toBeNull();
    expect(await textsOf(home, ran)).toEqual(expected);
  },
);

describe('a plan that contradicts itself is refused before anything is recorded', () => {
  const arm = (name: string, ...interventions: object[]) => ({ name, interventions });
  test.each<readonly [string, object, RegExp]>([
    ['a pool and a history', { history: 'sea' }, /either a pool or a history/],
    ['neither', { pool: undefined }, /either a pool or a history/],
    ['a position of a new pool', { at: '@c3' }, /`at` is a position/],
    ['two arms of one name', { arms: [arm('alone'), arm('alone')] }, /two arms have the name alone/],
    [
      'a verdict on an arm that is not there',
      { measures: { verdicts: [['alone', 'other']] } },
      /names the arm other/,
    ],
    ['a verdict on one arm', { measures: { verdicts: [['alone', 'alone']] } }, /with itself/],
    ['too few seeds', { seeds: [1, 2, 3] }, /3 seeds for 2 × 2 runs/],
    ['a seed twice', { seeds: [1, 2, 3, 1] }, /the same seed/],
    ['an arm with a seed', { arms: [arm('alone'), arm('asked', { config: { seed: 3 } })] }, /sets the seed/],
    ['too many runs', { repeats: 1_000 }, /2000 runs/],
    [
      'a sample larger than the pool',
      { pool: { ...PLAN.pool, settings: { sample_size: 9 } } },
      /shows 9 messages/,
    ],
    ['one arm', { arms: [arm('alone')] }, /arms/],
    ['no rounds', { rounds: 0 }, /rounds/],
    ['what nobody knows', { colour: 'blue' }, /colour/],
  ])('%s', (_, change, message) => {
    expect(() => parsePlan({ ...PLAN, ...change })).toThrow(
      expect.objectContaining({ code: 'E_PLAN_INVALID', message: expect.stringMatching(message) as string }),
    );
  });
});
