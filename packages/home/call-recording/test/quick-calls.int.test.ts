import type { StemmaError } from '@stemma/errors';
import type { Command } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { sized } from '@stemma/test-kit';
import { type Home, openHome, temporaryHome } from '@stemma/test-kit/home';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

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
    'rollback',
    'fork',
    'assign',
  ),
  at: fc.nat({ max: 7 }),
  text: fc.constantFrom('one', 'two', 'three', 'four'),
  tools: fc.constantFrom(null, 'search', 'fetch'),
  ends: fc.boolean(),
  scope: fc.constantFrom('run', 'run', 'all', 'history', 'branch'),
});
type AgentStep = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

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
  const branches: BranchRef[] = [];
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
    const within = {
      ...{ run: { run: 'r' }, all: undefined, history: { history: named } },
      branch: branches.length === 0 ? undefined : { branch: branches[at % branches.length] as BranchRef },
    }[scope];
    const { branch, match } = await home.calls.recordRequest({
      ...{ id, by, messages: list },
      facts: {
        ...{ api: 'openai.chat', model: 'm', parameters: { n: at } },
        tools: tools === null ? null : [{ type: 'function', function: { name: tools } }],
        request: Buffer.from(JSON.stringify({ messages: list })),
      },
      ...(within === undefined ? {} : { within }),
    });
    placed.push([branch, match]);
    branches.push(branch);
    if (ends)
      await home.calls.finishCall(branch, {
        ...{ by, attemptId: id, status: 'answered', httpStatus: 200, finishReason: 'stop', model: 'm' },
        ...{ usage: null, firstByteMs: 1, durationMs: 2, error: null },
        answer: { role: 'assistant', content: text },
        response: Buffer.from(JSON.stringify({ text })),
      });
    const { history, branchId } = branch;
    const said = { by: { actor: 'somebody' }, notes: 'A test' };
    const submit = (...steps: Command['steps']): ReturnType<Home['submit']> =>
      home.submit({ ...{ id: `${what}-${id}`, history, branchId }, ...said, steps });
    if (what === 'rollback') await submit({ op: 'rollback', to: await someCommitted(home, branch, at) });
    if (what === 'fork') {
      const { branchId } = await submit({ op: 'fork', at: await someCommitted(home, branch, at) });
      branches.push(branchRefOf(history, branchId));
    }
    if (what === 'inject') {
      const node = { nodeType: 'cb', role: 'user', kind: 'text', content: text } as const;
      await submit({ op: 'insert', parent: '^ah', node });
    }
    if (what === 'assign') {
      const to = branches[at % branches.length] as BranchRef;
      const isThere = to.history === history && to.branchId === branchId;
      const destination = isThere ? { newHistory: null } : { branch: to };
      const assigned = home.calls.assignCall({ history, attemptId: id }, destination, said);
      // An attempt with a snapshot of another branch is there.
      placed.push(await assigned.catch((error: unknown) => (error as StemmaError).code));
    }
  }
  return placed;
};

/** A snapshot on the ancestor path of a branch, or where its history begins. */
const someCommitted = async (
  home: Home,
  branch: BranchRef,
  nth: number,
): Promise<{ readonly branchId: number; readonly seq: number }> => {
  const snapshots = await home.read.snapshots(branch);
  return snapshots[nth % (snapshots.length + 1)] ?? { branchId: 0, seq: 0 };
};

/**
 * The records of a log, as they stand in its file, but for the two that follow from its random id: the first one, which says
 * it, and the one that raises the version of the frames.
 */
const recordsIn = (directory: string): Buffer => {
  const bytes = readFileSync(join(directory, 'log', '0', '0000000000000000.seg'));
  const magic = bytes.subarray(0, 4);
  const records: Buffer[] = [];
  for (let at = 0; at !== -1;) {
    const next = bytes.indexOf(magic, at + magic.length);
    records.push(bytes.subarray(at, next === -1 ? bytes.length : next));
    at = next;
  }
  return Buffer.concat(records.slice(1).filter((record) => !record.includes('FormatRaised')));
};

/**
 * A home in which calls are played, and what is left of them.
 *
 * @param reopens from which step on it is opened anew before each: it then remembers no conversation
 */
const played = async (
  agent: readonly AgentStep[],
  { redact, reopens = agent.length }: { readonly redact?: object; readonly reopens?: number } = {},
): Promise<{ readonly placed: unknown[]; readonly bytes: Buffer }> => {
  using at = temporaryHome();
  const { directory } = at;
  let home: Home | undefined;
  let step = 0;
  const placed = await play(async () => {
    if (home !== undefined && step++ < reopens) return home;
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

test(
  'calls that are recorded out of memory are recorded as those for which everything is read',
  { tags: ['long', 'calls§3.1'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 14 }), async (agent) => {
        await expectSame(agent);
      }),
      { numRuns: sized(4, 15) },
    );
  },
);

const step = (what: AgentStep['what'], scope: AgentStep['scope'], at = 0, ends = true): AgentStep => ({
  ...{ what, scope, at, ends },
  ...{ text: 'one', tools: 'search' },
});

/** The same in a home that remembers every conversation as in one that remembers none; returns how calls were matched. */
const expectSame = async (agent: readonly AgentStep[]): Promise<unknown[]> => {
  const [quick, slow] = [await played(agent), await played(agent, { reopens: 0 })];
  expect(quick.placed).toEqual(slow.placed);
  expect(quick.bytes.equals(slow.bytes)).toBe(true);
  return quick.placed.map((each) => (each as readonly unknown[])[1]);
};

test.each(['run', 'history'] as const)(
  'behind a rollback they are, too: in the scope %s',
  { tags: ['long', 'calls§3.10'] },
  async (scope) => {
    const grown = [step('start', scope), ...[1, 2, 3].map(() => step('append', scope))];
    for (const back of [2, 0, 9].slice(0, sized(2, 3)))
      await expectSame([
        ...grown,
        step('rollback', scope, back),
        step('append', scope),
        step('append', scope),
      ]);
  },
);

test(
  'an attempt in a fork with a snapshot of another branch is what the next request of that branch copies',
  { tags: ['calls§2.2'] },
  async () => {
    const agent = [step('fork', 'run'), step('repeat', 'branch', 1), step('append', 'run')];
    expect(await expectSame(agent)).toEqual(['started', 'named', 'appended']);
  },
);

test(
  'of two branches with the same list the one with the newest call is gone on with',
  { tags: ['calls§3.1'] },
  async () => {
    const agent = [step('fork', 'history', 1), step('repeat', 'branch', 1), step('append', 'history')];
    expect(await expectSame(agent)).toEqual(['started', 'named', 'appended']);
  },
);

test(
  'a conversation that another one rewrote is not gone on with in the draft of that one',
  { tags: ['calls§3.3'] },
  async () => {
    const usual: Omit<AgentStep, 'what' | 'text' | 'at'> = { scope: 'run', ends: false, tools: null };
    const agent: AgentStep[] = [
      { ...usual, scope: 'all', what: 'append', at: 0, text: 'three' },
      { ...usual, what: 'shorten', at: 0, text: 'three' },
      { ...usual, what: 'append', at: 0, text: 'four' },
      { ...usual, what: 'shorten', at: 0, text: 'three' },
      // Another agent, that said the same, takes the branch.
      { ...usual, scope: 'all', what: 'start', at: 0, text: 'four' },
      { ...usual, what: 'append', at: 1, text: 'four' },
      { ...usual, what: 'append', at: 0, text: 'one' },
    ];
    expect((await expectSame(agent)).slice(-2)).toEqual(['rewritten', 'rewritten']);
  },
);

test(
  'of which call a request is a copy does not depend on it, however many there were on other branches',
  { tags: ['long', 'calls§2.2'] },
  async () => {
    const usual: AgentStep = { what: 'append', scope: 'run', at: 0, text: 'one', tools: null, ends: false };
    const inFork: AgentStep = { ...usual, scope: 'branch', at: 1, text: 'two' };
    const agent: AgentStep[] = [
      { ...usual, what: 'fork' },
      { ...inFork, what: 'start' },
      ...Array.from({ length: 66 }, () => inFork),
      usual,
    ];
    const [quick, slow] = [await played(agent), await played(agent, { reopens: agent.length - 1 })];
    expect(quick.placed).toEqual(slow.placed);
    expect(quick.bytes.equals(slow.bytes)).toBe(true);
  },
);

test(
  'nothing of a conversation is read for a call that goes on, however fast they come',
  { tags: ['calls§3.1'] },
  async () => {
    using at = temporaryHome();
    const home = await openHome({ directory: at.directory, create: true });
    const reading = [
      vi.spyOn(home.calls, 'recordCall'),
      vi.spyOn(home.read, 'view'),
      vi.spyOn(home, 'position'),
    ];
    const usual: AgentStep = {
      what: 'append',
      at: 0,
      text: 'one',
      tools: 'search',
      ends: true,
      scope: 'run',
    };
    const agent = [{ ...usual, what: 'start' as const }, ...Array.from({ length: 20 }, () => usual)];
    const placed = await play(() => Promise.resolve(home), agent);
    expect(placed.map((each) => (each as readonly unknown[])[1])).toEqual([
      'started',
      ...Array.from({ length: 20 }, () => 'appended'),
    ]);
    for (const spy of reading) expect(spy).not.toHaveBeenCalled();
    await home.close();
  },
);
