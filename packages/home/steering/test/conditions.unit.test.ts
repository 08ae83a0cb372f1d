import { fail } from '@stemma/errors';
import type { Breakpoint } from '@stemma/history';
import type { SteeredHome } from '@stemma/steering';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { breakpointsHit, checkConditions } from '../src/conditions.ts';

const BRANCH = { history: 'h', branchId: 0, address: 'h' } as never;
const limits = { timeout_ms: 1, then: 'go-on' } as const;
const calls = (name: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: '{}' } }],
});

type Asked = { readonly when?: boolean; readonly changed?: boolean };

/** A home that answers selectors as it is told, and counts how often it is asked. */
const homeOf = ({ when = true, changed = true }: Asked): SteeredHome & { readonly asked: string[] } => {
  const asked: string[] = [];
  const nodes = changed ? ['n'] : [];
  const stats = { added: nodes.length, removed: 0, changed: 0 };
  return {
    asked,
    select: async (_branch: unknown, text: string) => (asked.push(text), { ids: when ? ['n'] : [] }),
    diff: async (_branch: unknown, a: string, b: string, text: string) => {
      asked.push(`${a}..${b} ${text}`);
      return { added: nodes, removed: [], changed: [] };
    },
    range: async (_branch: unknown, text: string) => (asked.push(text), { diffs: [{ stats }] }),
  } as unknown as SteeredHome & { readonly asked: string[] };
};

const ask = (home: SteeredHome, breakpoints: readonly Breakpoint[], said: string[] = []) =>
  breakpointsHit(
    home,
    breakpoints.map((breakpoint, i) => ({ name: `b${i}`, breakpoint })),
    {
      branch: BRANCH,
      cycle: 3,
      model: 'gpt-5-mini',
      brought: [{ role: 'user', content: 'Hi.' }, calls('pay')],
    },
    (sentence) => said.push(sentence),
  ).then((hit) => hit.map(({ name }) => name));

/** Each condition, true and false of the call above. */
const CONDITIONS = {
  cycle: [3, 4],
  model: ['gpt-5*', 'gpt-5'],
  tool: ['pay', 'refund'],
  when: ['.cb', '.cb'],
  changed: ['.cb', '.cb'],
} as const;
type Condition = keyof typeof CONDITIONS;

test(
  'a breakpoint holds a call where all of its conditions are true, and not where one is false',
  { tags: ['calls§5.7'] },
  async () => {
    const names = Object.keys(CONDITIONS) as Condition[];
    await fc.assert(
      fc.asyncProperty(fc.subarray(names, { minLength: 1 }), fc.subarray(names), async (present, untrue) => {
        const isTrue = (name: Condition): boolean => !untrue.includes(name);
        const breakpoint = Object.assign(
          { ...limits },
          ...present.map((name) => ({ [name]: CONDITIONS[name][isTrue(name) ? 0 : 1] })),
        ) as Breakpoint;
        const home = homeOf({ when: isTrue('when'), changed: isTrue('changed') });
        expect(await ask(home, [breakpoint])).toEqual(present.every(isTrue) ? ['b0'] : []);
        // What the call itself says is asked first: most calls cost no selector.
        if (
          ['cycle', 'model', 'tool'].some(
            (name) => present.includes(name as Condition) && !isTrue(name as Condition),
          )
        )
          expect(home.asked).toEqual([]);
      }),
    );
  },
);

test(
  'of several breakpoints those that hold a call are told in their order; one that cannot be asked holds none and is named',
  { tags: ['calls§5.7'] },
  async () => {
    const home = homeOf({});
    const broken = {
      ...home,
      select: async (_branch: unknown, text: string) => {
        if (text === '@none') throw fail('E_SNAPSHOT_NOT_FOUND', 'there is no snapshot yet');
        if (text === '@s9') throw fail('E_SELECTOR_INVALID', 'that is no selector');
        if (text === '@away') throw fail('E_LOG_BUSY', 'the log is away');
        return { ids: ['n'] };
      },
    } as unknown as SteeredHome;
    const said: string[] = [];
    const breakpoints = [{ cycle: 3 }, { when: '@s9' }, { when: '@none' }, { model: '*' }].map(
      (each): Breakpoint => ({ ...limits, ...each }),
    );
    expect(await ask(broken, breakpoints, said)).toEqual(['b0', 'b3']);
    expect(said).toEqual(['the breakpoint b1 cannot be asked: that is no selector (E_SELECTOR_INVALID)']);
    // What may be known a moment later is no answer.
    await expect(ask(broken, [{ ...limits, when: '@away' }], said)).rejects.toMatchObject({
      code: 'E_LOG_BUSY',
    });
  },
);

test('changes are asked since the newest snapshot, or over the range that the selector has', async () => {
  const home = homeOf({});
  await ask(home, [
    { ...limits, changed: '.cb' },
    { ...limits, changed: '@t-5..@t0 .cb' },
  ]);
  expect(home.asked).toEqual(['@t0.. .cb', '@t-5..@t0 .cb']);
});

test('a call without a model fits only what fits every model', async () => {
  for (const [model, fits] of [
    ['*', true],
    ['m*', false],
    ['m', false],
  ] as const) {
    const hit = await breakpointsHit(
      homeOf({}),
      [{ name: 'b', breakpoint: { ...limits, model } }],
      { branch: BRANCH, cycle: 1, model: null, brought: [] },
      () => undefined,
    );
    expect(hit).toHaveLength(fits ? 1 : 0);
  }
});

test('a selector that cannot be read is refused when the breakpoint is set', { tags: ['calls§5.7'] }, () => {
  for (const selector of ['', '@', '.cb[', '@t0..'])
    for (const condition of ['when', 'changed'] as const)
      expect(() => checkConditions({ ...limits, [condition]: selector })).toThrow(
        expect.objectContaining({ code: 'E_SELECTOR_INVALID' }),
      );
  checkConditions({ ...limits, when: '.cb', changed: '@t-1..@t0 .cb' });
});
