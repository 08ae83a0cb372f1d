import { branchRefOf } from '@stemma/history-store';
import { type Home, openHome, temporaryHome } from '@stemma/test-kit/home';
import { afterEach, beforeEach, expect, test } from 'vitest';

type Message = { readonly role: string; readonly content: unknown };
const by = { recorder: 'proxy' };
const s: Message = { role: 'system', content: 'You book flights for passengers who ask.' };
const u = (text: string): Message => ({ role: 'user', content: `${text}, please, as soon as possible` });
const a = (text: string): Message => ({ role: 'assistant', content: `${text}, of course, right away` });

let at: ReturnType<typeof temporaryHome>;
let home: Home;
let calls = 0;
beforeEach(async () => {
  at = temporaryHome();
  home = await openHome({ directory: at.directory, create: true });
});
afterEach(async () => {
  await home.close();
  at[Symbol.dispose]();
});

const send = (
  messages: readonly Message[],
  within?: Parameters<Home['calls']['recordRequest']>[0]['within'],
  id = `call-${++calls}`,
) =>
  home.calls.recordRequest({
    id,
    by,
    messages: messages as never,
    facts: {
      api: 'openai.chat',
      model: 'm',
      parameters: {},
      tools: null,
      request: Buffer.from(JSON.stringify({ messages })),
    },
    ...(within === undefined ? {} : { within }),
  });
const shown = async (history: string, branchId: number): Promise<unknown> => {
  const { tree } = await home.read.view(await home.position(branchRefOf(history, branchId)));
  return tree.cycle;
};

test(
  'a call that goes on is the next cycle; the same one again is another attempt',
  { tags: ['calls§3.1'] },
  async () => {
    const first = await send([s, u('Berlin')]);
    expect(first.match).toBe('started');
    const again = await send([s, u('Berlin')]);
    expect(again).toEqual({ branch: first.branch, match: 'repeated', isEnded: false });
    const next = await send([s, u('Berlin'), a('Which day'), u('Monday')]);
    expect(next).toEqual({ branch: first.branch, match: 'appended', isEnded: false });
    expect(await shown(first.branch.history, 0)).toBe(2);
    // Long after, as a client that was slow would.
    expect(await send([s, u('Berlin')])).toEqual({ branch: first.branch, match: 'repeated', isEnded: false });
    const { attempts } = await home.calls.list(first.branch);
    expect(attempts.map(({ cycle, match }) => [cycle, match])).toEqual([
      [1, 'started'],
      [1, 'repeated'],
      [2, 'appended'],
      [1, 'repeated'],
    ]);
  },
);

test('moved marks of a cache change nothing', { tags: ['calls§3.2'] }, async () => {
  const marked = (text: string, mark: boolean): Message => ({
    role: 'user',
    content: [{ type: 'text', text, ...(mark ? { cache_control: { type: 'ephemeral' } } : {}) }],
  });
  const first = await send([s, marked('To Berlin', true)]);
  const next = await send([s, marked('To Berlin', false), a('Which day'), marked('Monday', true)]);
  expect(next).toEqual({ branch: first.branch, match: 'appended', isEnded: false });
  const events = await home.read.events(first.branch.history);
  expect(events.filter(({ event }) => event.type === 'NodeRemoved')).toEqual([]);
});

test(
  'a compaction, an edited turn and dropped results rewrite the branch',
  { tags: ['calls§3.3'] },
  async () => {
    const { branch } = await send([s, u('Berlin')]);
    await send([s, u('Berlin'), a('Which day'), u('Monday')]);
    await send([s, u('Berlin'), a('Which day'), u('Monday'), a('Booked'), u('Thanks')]);
    const edited = [
      s,
      u('Berlin'),
      a('Which morning'),
      u('Monday'),
      a('Booked'),
      u('Thanks'),
      a('Bye'),
      u('One more'),
    ];
    expect(await send(edited)).toEqual({ branch, match: 'rewritten', isEnded: false });
    const compacted = [
      s,
      u('Summary: a flight to Berlin is booked'),
      a('Bye'),
      u('One more'),
      a('Yes'),
      u('Rome'),
    ];
    expect(await send(compacted)).toEqual({ branch, match: 'rewritten', isEnded: false });
    const dated: Message = { role: 'system', content: 'You book flights. It is 10:31.' };
    expect(await send([dated, ...compacted.slice(1), a('Rome it is'), u('Good')])).toEqual({
      branch,
      match: 'rewritten',
      isEnded: false,
    });
  },
);

test('an older call that goes on otherwise is a fork', { tags: ['calls§3.4'] }, async () => {
  const { branch } = await send([s, u('Berlin')]);
  await send([s, u('Berlin'), a('Which day'), u('Monday')]);
  const other = await send([s, u('Berlin'), a('Which day'), u('Tuesday')]);
  expect(other.match).toBe('forked');
  expect(other.branch.history).toBe(branch.history);
  expect(other.branch.branchId).not.toBe(branch.branchId);
  // Each of them goes on where it is.
  const [monday, tuesday] = await Promise.all([
    send([s, u('Berlin'), a('Which day'), u('Monday'), a('Booked'), u('Thanks')]),
    send([s, u('Berlin'), a('Which day'), u('Tuesday'), a('Booked'), u('Thanks')]),
  ]);
  expect(monday).toEqual({ branch, match: 'appended', isEnded: false });
  expect(tuesday).toEqual({ branch: other.branch, match: 'appended', isEnded: false });
});

test(
  'agents side by side have histories of their own, and runs do not see each other',
  { tags: ['calls§3.5'] },
  async () => {
    const agent: Message = { role: 'system', content: 'You search the web for others.' };
    const run = { run: 'r1' };
    const first = await send([s, u('Berlin')], run);
    const helper = await send([agent, u('Berlin')], run);
    expect(helper.match).toBe('started');
    expect(helper.branch.history).not.toBe(first.branch.history);
    const twin = await send([s, u('Berlin')], { run: 'r2' });
    expect(twin.match).toBe('started');
    // Many at once with one beginning: one conversation, several attempts.
    const many = await Promise.all(Array.from({ length: 8 }, () => send([s, u('Oslo')], run)));
    expect(new Set(many.map(({ branch }) => branch.history)).size).toBe(1);
    expect(many.map(({ match }) => match).filter((match) => match === 'started')).toHaveLength(1);
  },
);

test(
  'a call in a named history that goes on from none has a branch of its own',
  { tags: ['calls§3.5'] },
  async () => {
    const { history } = await home.submit({
      id: 'start',
      history: 'hnamed',
      branchId: 0,
      by,
      steps: [{ op: 'start', name: null }],
    });
    const first = await send([s, u('Berlin')], { history });
    expect(first).toMatchObject({ match: 'started', branch: { history, branchId: 0 } });
    const helper = await send([u('Search the web')], { history });
    expect(helper).toMatchObject({ match: 'started', branch: { history } });
    expect(helper.branch.branchId).not.toBe(0);
    expect(await send([u('Search the web'), a('Found'), u('More')], { history })).toEqual({
      branch: helper.branch,
      match: 'appended',
      isEnded: false,
    });
  },
);

test(
  'conversations that begin in a named history at the same time have a branch each',
  { tags: ['calls§3.5'] },
  async () => {
    const { history } = (await home.submit({
      ...{ id: 'start', history: 'h-at-once', branchId: 0, by },
      steps: [{ op: 'start', name: 'at-once' }],
    })) as { history: string };
    const texts = ['Berlin', 'Paris', 'Rome'];
    const placed = await Promise.all(texts.map((text) => send([s, u(text)], { history })));
    expect(placed.map(({ match }) => match)).toEqual(['started', 'started', 'started']);
    expect(new Set(placed.map(({ branch }) => branch.branchId)).size).toBe(3);
    expect(placed[0]?.branch.branchId).toBe(0);
  },
);

test('a call that is recorded twice has one effect', { tags: ['calls§3.6'] }, async () => {
  const first = await send([s, u('Berlin')], undefined, 'one');
  expect(await send([s, u('Berlin')], undefined, 'one')).toEqual({ ...first, before: true });
  const next = await send([s, u('Berlin'), a('Which day'), u('Monday')], undefined, 'two');
  expect(await send([s, u('Berlin'), a('Which day'), u('Monday')], undefined, 'two')).toEqual({
    ...next,
    before: true,
  });
  expect((await home.calls.list(first.branch)).attempts).toHaveLength(2);
});

test(
  'what an observer injects and commits stays when a call does not show it',
  { tags: ['calls§3.7'] },
  async () => {
    const { branch } = await send([s, u('Berlin')]);
    const { history } = branch;
    const actor = { actor: 'alice' };
    await home.submit({
      id: 'inject',
      history,
      branchId: 0,
      by: actor,
      steps: [{ op: 'inject', text: 'Ask for the passport.' }, { op: 'commit' }],
    });
    const next = await send([s, u('Berlin'), a('Which day'), u('Monday')]);
    expect(next.match).toBe('appended');
    const main = await home.find(history);
    expect(next.branch.branchId).toBe(main.branchId);
    const { history: id, branchId } = branch;
    const { tree } = await home.read.view(await home.position(branchRefOf(id, branchId)));
    expect(tree.ids.length).toBeGreaterThan(0);
    // The observer's line is still there, on the abandoned branch, and the conversation goes on.
    const last = await send([s, u('Berlin'), a('Which day'), u('Monday'), a('Booked'), u('Thanks')]);
    expect(last).toEqual({ branch: next.branch, match: 'appended', isEnded: false });
  },
);

/** A conversation of three calls in a named history, and what its calls say. */
const BERLIN = [s, u('Berlin')];
const MONDAY = [...BERLIN, a('Which day'), u('Monday')];
const THANKS = [...MONDAY, a('Booked'), u('Thanks')];
const threeCalls = async (): Promise<string> => {
  const { history } = await home.submit({
    ...{ id: 'start', history: 'h-rolled-back', branchId: 0, by },
    steps: [{ op: 'start', name: null }],
  });
  for (const list of [BERLIN, MONDAY, THANKS]) await send(list, { history });
  return history;
};
const rollBack = async (by: Home, history: string, to: string): Promise<number> => {
  const { branchId } = await by.find(history);
  const { seq, branchId: toBranch } = await by.position(branchRefOf(history, branchId), to);
  const { position } = await by.submit({
    ...{ id: `back-to-${to}`, history, branchId, by: { actor: 'alice' } },
    steps: [{ op: 'rollback', to: { branchId: toBranch, seq } }],
  });
  return position.branchId;
};

test.each(['this process', 'another process'])(
  'after a rollback by %s a call goes on in the branch that replaced the abandoned one',
  { tags: ['calls§3.1', 'calls§3.10'] },
  async (who) => {
    const history = await threeCalls();
    const other = who === 'this process' ? home : await openHome({ directory: at.directory });
    const branchId = await rollBack(other, history, '@c1');
    if (other !== home) await other.close();
    // Its agent knows nothing of the rollback: the call begins with what the new branch shows.
    const branch = branchRefOf(history, branchId);
    const more = [...THANKS, a('Bye'), u('One more')];
    expect(await send(more, { history })).toMatchObject({ branch, match: 'appended' });
    expect(await send([...more, a('Yes'), u('Rome')], { history })).toMatchObject({
      ...{ branch, match: 'appended' },
    });
    expect((await home.position(branchRefOf(history, 0))).label).toBe('@c3');
  },
);

test(
  'an agent that starts again from the position of a rollback goes on in the new branch',
  { tags: ['calls§3.10'] },
  async () => {
    const history = await threeCalls();
    const branch = branchRefOf(history, await rollBack(home, history, '@c2'));
    expect(await send(MONDAY, { history })).toMatchObject({ branch, match: 'repeated' });
    const other = [...MONDAY, a('Booked'), u('Cancel it')];
    expect(await send(other, { history })).toMatchObject({ branch, match: 'appended' });
    const { attempts } = await home.calls.list(branch);
    expect(attempts.map(({ cycle, match }) => [cycle, match])).toEqual([
      [1, 'started'],
      [2, 'appended'],
      [2, 'repeated'],
      [3, 'appended'],
    ]);
    // The undone call no longer fits: it begins with an older prompt of the new branch.
    const late = await send([...THANKS, a('Bye'), u('One more')], { history });
    expect(late.match).toBe('forked');
    const forked = (await home.branches.tree(history)).find(
      ({ branchId }) => branchId === late.branch.branchId,
    );
    expect(forked?.parent?.label).toBe('@c2');
  },
);

test(
  'after a rollback to the beginning any conversation is the one of the named history',
  { tags: ['calls§3.10'] },
  async () => {
    const history = await threeCalls();
    const branch = branchRefOf(history, await rollBack(home, history, '@s0'));
    expect(await send([u('Search the web')], { history })).toMatchObject({ branch, match: 'started' });
  },
);

test('after two rollbacks a call goes on in the branch that is left', { tags: ['calls§3.10'] }, async () => {
  const history = await threeCalls();
  await rollBack(home, history, '@c2');
  const branch = branchRefOf(history, await rollBack(home, history, '@c1'));
  expect(await send(THANKS, { history })).toMatchObject({ branch, match: 'appended' });
});
