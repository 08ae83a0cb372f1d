import { openHome, type Home } from '@stemma/home';
import type { BranchRef } from '@stemma/history-store';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryHome } from './small-home.ts';

type Message = { readonly role: string; readonly content: string };

/** What an agent does next. `at` picks one of the conversations so far. */
const anyStep = fc.record({
  what: fc.constantFrom(
    'start',
    'append',
    'append',
    'append',
    'append',
    'repeat',
    'shorten',
    'rewrite',
    'inject',
  ),
  at: fc.nat({ max: 7 }),
  text: fc.constantFrom('one', 'two', 'three', 'four'),
  tools: fc.constantFrom(null, 'search', 'fetch'),
  ends: fc.boolean(),
  scope: fc.constantFrom('run', 'run', 'all', 'history'),
});
type AnyStep = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;
type AgentStep = Omit<AnyStep, 'what'> & { readonly what: AnyStep['what'] | 'rollback' };

const by = { recorder: 'proxy' };

/**
 * Plays what an agent does; the same calls in the same order. Returns where they were placed.
 *
 * @param next returns the home for the next step
 */
const play = async (next: () => Promise<Home>, agent: readonly AgentStep[]): Promise<unknown[]> => {
  const first = await next();
  const { history: named } = await first.submit({
    ...{ id: 'named', history: 'h-named', branchId: 0, by },
    steps: [{ op: 'start', name: 'named' }],
  });
  const lists: Message[][] = [];
  const placed: unknown[] = [];
  let count = 0;
  for (const { what, at, text, tools, ends, scope } of agent) {
    const home = await next();
    const id = `call-${++count}`;
    const before = lists[at % Math.max(1, lists.length)] ?? [];
    const user = (said: string): Message => ({ role: 'user', content: `${said} ${count}` });
    let list: Message[];
    if (what === 'start' || before.length === 0)
      list = [
        { role: 'system', content: `You are ${text}` },
        { role: 'user', content: `Begin ${text}` },
      ];
    else if (what === 'append') list = [...before, { role: 'assistant', content: text }, user(text)];
    else if (what === 'shorten') list = before.slice(0, -1);
    else if (what === 'rewrite') list = before.map((each, i) => (i === 1 ? user('Rewritten') : each));
    else list = before;
    if (what === 'start') lists.push(list);
    else lists[at % Math.max(1, lists.length)] = list;
    const within = { run: { run: 'r' }, all: undefined, history: { history: named } }[scope];
    const { branch, match } = await home.recordRequest({
      ...{ id, by, messages: list },
      facts: {
        ...{ api: 'openai.chat', model: 'm', parameters: { n: at } },
        tools: tools === null ? null : [{ type: 'function', function: { name: tools } }],
        request: Buffer.from(JSON.stringify({ messages: list })),
      },
      ...(within === undefined ? {} : { within }),
    });
    placed.push([branch, match]);
    if (ends)
      await home.finishCall(branch, {
        ...{ by, attemptId: id, status: 'answered', httpStatus: 200, finishReason: 'stop', model: 'm' },
        ...{ usage: null, firstByteMs: 1, durationMs: 2, error: null },
        answer: { role: 'assistant', content: text },
        response: Buffer.from(JSON.stringify({ text })),
      });
    if (what === 'rollback')
      await home.submit({
        ...{ id: `rollback-${id}`, history: branch.history, branchId: branch.branchId },
        ...{ by: { actor: 'somebody' }, notes: 'A test' },
        steps: [{ op: 'rollback', to: await someCommitted(home, branch, at) }],
      });
    if (what === 'inject')
      await home.submit({
        ...{ id: `inject-${id}`, history: branch.history, branchId: branch.branchId },
        ...{ by: { actor: 'somebody' }, notes: 'A test' },
        steps: [
          {
            op: 'insert',
            parent: '^ah',
            node: { nodeType: 'cb', role: 'user', kind: 'text', content: text },
          },
        ],
      });
  }
  return placed;
};

/** A snapshot on the ancestor path of a branch, or where its history begins. */
const someCommitted = async (
  home: Home,
  branch: BranchRef,
  nth: number,
): Promise<{ readonly branchId: number; readonly seq: number }> => {
  const snapshots = await home.snapshots(branch);
  return snapshots[nth % (snapshots.length + 1)] ?? { branchId: 0, seq: 0 };
};

/** The records of a log, as they stand in its file; the first one says which process opened it. */
const recordsIn = (directory: string): Buffer => {
  const bytes = readFileSync(join(directory, 'log', '0', '0000000000000000.seg'));
  return bytes.subarray(bytes.indexOf(bytes.subarray(0, 4), 4));
};

/** A home in which calls are played, and what is left of them. */
const played = async (
  agent: readonly AgentStep[],
  { redact, reopens = false }: { readonly redact?: object; readonly reopens?: boolean } = {},
): Promise<{ readonly placed: unknown[]; readonly bytes: Buffer }> => {
  using at = temporaryHome();
  const { directory } = at;
  let home: Home | undefined;
  const placed = await play(async () => {
    if (home !== undefined && !reopens) return home;
    await home?.close();
    home = await openHome({
      ...{ directory, create: true, clock: () => 1_000_000n },
      ...(redact && { redact }),
    });
    return home;
  }, agent);
  await home?.close();
  return { placed, bytes: recordsIn(directory) };
};

test('calls that are recorded out of memory are recorded as those for which everything is read [calls §3.1]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 14 }), async (agent) => {
      const quick = await played(agent);
      // A home that has just been opened remembers no conversation.
      const slow = await played(agent, { reopens: true });
      expect(quick.placed).toEqual(slow.placed);
      expect(quick.bytes.equals(slow.bytes)).toBe(true);
    }),
    { numRuns: 12 },
  );
});

const step = (what: AgentStep['what'], scope: AgentStep['scope'], at = 0, ends = true): AgentStep => ({
  ...{ what, scope, at, ends },
  ...{ text: 'one', tools: 'search' },
});

test.each(['run', 'all', 'history'] as const)(
  'behind a rollback they are, too: in the scope %s [calls §3.10]',
  async (scope) => {
    const grown = [step('start', scope), ...[1, 2, 3].map(() => step('append', scope))];
    for (const back of [0, 1, 2, 9])
      for (const then of ['append', 'repeat', 'shorten', 'rewrite'] as const) {
        const agent = [...grown, step('rollback', scope, back), step(then, scope), step('append', scope)];
        const [quick, slow] = [await played(agent), await played(agent, { reopens: true })];
        expect(quick.placed).toEqual(slow.placed);
        expect(quick.bytes.equals(slow.bytes)).toBe(true);
      }
  },
);

// Found by the property above (seed 20260101): the last call goes on with its branch, and is recorded as a rewriting of it by a
// home that remembers no conversation. Both place it there.
test.fails('nor by a call whose list another one of the branch was shortened to [calls §3.1]', async () => {
  const agent: AgentStep[] = [
    { what: 'append', at: 7, text: 'three', tools: 'fetch', ends: false, scope: 'all' },
    { what: 'shorten', at: 5, text: 'four', tools: null, ends: false, scope: 'run' },
    { what: 'append', at: 2, text: 'four', tools: null, ends: true, scope: 'run' },
    { what: 'shorten', at: 1, text: 'three', tools: 'search', ends: false, scope: 'run' },
    { what: 'start', at: 0, text: 'four', tools: null, ends: false, scope: 'all' },
    { what: 'append', at: 1, text: 'four', tools: 'search', ends: false, scope: 'run' },
    { what: 'append', at: 6, text: 'one', tools: 'fetch', ends: false, scope: 'run' },
  ];
  expect((await played(agent)).placed).toEqual((await played(agent, { reopens: true })).placed);
});

test('nothing of a conversation is read for a call that goes on, however fast they come [calls §3.1]', async () => {
  using at = temporaryHome();
  const home = await openHome({ directory: at.directory, create: true });
  const reading = [vi.spyOn(home, 'recordCall'), vi.spyOn(home, 'view'), vi.spyOn(home, 'position')];
  const usual: AgentStep = { what: 'append', at: 0, text: 'one', tools: 'search', ends: true, scope: 'run' };
  const agent = [{ ...usual, what: 'start' as const }, ...Array.from({ length: 20 }, () => usual)];
  const placed = await play(() => Promise.resolve(home), agent);
  expect(placed.map((each) => (each as readonly unknown[])[1])).toEqual([
    'started',
    ...Array.from({ length: 20 }, () => 'appended'),
  ]);
  for (const spy of reading) expect(spy).not.toHaveBeenCalled();
  await home.close();
});
