import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { exportTree } from '@stemma/context-tree';
import { historyId } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { type Home, openHome, temporaryHome } from '@stemma/test-kit/home';
import { afterEach, beforeEach, expect, test } from 'vitest';

type Message = { readonly role: string; readonly content: unknown; readonly [name: string]: unknown };
const by = { recorder: 'proxy' };
const ann = { by: { actor: 'ann' }, notes: 'another user' };
const s: Message = { role: 'system', content: 'You book flights for passengers who ask.' };
const u = (text: string): Message => ({ role: 'user', content: `${text}, please, as soon as possible` });
const a = (text: string): Message => ({ role: 'assistant', content: `${text}, of course, right away` });

let at: ReturnType<typeof temporaryHome>;
let home: Home;
let calls = 0;
beforeEach(async () => {
  at = temporaryHome();
  home = await openHome({ directory: at.directory, create: true });
  calls = 0;
});
afterEach(async () => {
  await home.close();
  at[Symbol.dispose]();
});

const RUN = { run: 'r1' };
const bodyOf = (messages: readonly Message[]): Uint8Array =>
  Buffer.from(JSON.stringify({ model: 'm', messages }));
const send = (messages: readonly Message[], id = `call-${++calls}`, within: { run: string } = RUN) =>
  home.calls.recordRequest({
    id,
    by,
    messages: messages as never,
    facts: {
      api: 'openai.chat',
      model: 'm',
      parameters: { temperature: 0 },
      tools: [{ name: 'look' }],
      request: bodyOf(messages),
    },
    within,
  });
const end = (branch: BranchRef, attemptId: string, answer: Message) =>
  home.calls.finishCall(branch, {
    ...{
      by,
      attemptId,
      status: 'answered',
      httpStatus: 200,
      finishReason: 'stop',
      model: 'm-1',
      error: null,
    },
    usage: { input: 3, output: 4, cached: null, cacheWrite: null, reasoning: null },
    ...{
      firstByteMs: 1,
      durationMs: 2,
      answer: answer as never,
      response: Buffer.from(JSON.stringify(answer)),
    },
  });
const called = (name: string, said: object): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 't1', type: 'function', function: { name, arguments: JSON.stringify(said) } }],
});
const listed = async (branch: BranchRef) =>
  (await home.calls.list(branch)).attempts.map(({ attemptId, label, match, reassignedTo }) => [
    attemptId,
    label,
    match,
    reassignedTo?.attemptId ?? null,
  ]);
const shown = async ({ history, branchId }: BranchRef) =>
  (await home.read.view(await home.position(branchRefOf(history, branchId)))).tree.cycle;

test(
  'a call is recorded where it belongs, with all that is known of it, and marked where it was',
  { tags: ['calls§8.1'] },
  async () => {
    const first = await send([s, u('Berlin')]);
    await end(first.branch, 'call-1', a('Which day'));
    // Somebody else's, that was answered alike: it is taken for a compaction.
    const wrong = [s, u('Summary'), u('Berlin'), a('Which day'), u('For Bob')];
    const { branch } = await send(wrong, 'wrong');
    expect(branch.history).toBe(first.branch.history);
    await end(branch, 'wrong', a('Booked for Bob'));
    const [assigned] = await home.calls.assignCall(
      { history: branch.history, attemptId: 'wrong' },
      { newHistory: 'bob' },
      ann,
    );
    const to = assigned?.to as NonNullable<typeof assigned>['to'];
    expect(await listed(branch)).toEqual([
      ['call-1', '@c1', 'started', null],
      ['wrong', '@c2', 'rewritten', to.attemptId],
    ]);
    const there = branchRefOf(to.history, to.branchId);
    expect((await home.read.history(to.history)).name).toBe('bob');
    const [old, now] = [
      await home.calls.find(branch.history, 'wrong'),
      await home.calls.find(to.history, to.attemptId),
    ];
    const {
      attemptId,
      frame,
      label,
      branchId,
      seq,
      cycle,
      at: time,
      match,
      reassignedTo,
      assignedFrom,
      ...rest
    } = old;
    expect(now).toMatchObject(rest);
    expect(now).toMatchObject({
      ...{ label: '@c1', cycle: 1, match: 'assigned', reassignedTo: null },
      assignedFrom: { history: branch.history, attemptId: 'wrong' },
    });
    for (const which of ['request', 'response'] as const)
      expect(await home.calls.body(to.history, to.attemptId, which)).toEqual(
        await home.calls.body(branch.history, 'wrong', which),
      );
    // It does not count where it was.
    expect((await home.read.snapshots(branch)).map(({ calls: count }) => count)).toEqual([1, 0]);
    expect((await home.read.snapshots(there)).map(({ calls: count }) => count)).toEqual([1]);
    const { ok, calls: verified } = await home.operations.verify({ rows: 'all' });
    expect({ ok, compared: verified.compared }).toEqual({ ok: true, compared: 3 });
    expect((await home.operations.replay({ verify: true })).differences).toBe(0);
  },
);

test(
  'later calls go on where the corrected one is, and where it never was',
  { tags: ['calls§8.2'] },
  async () => {
    const first = await send([s, u('Berlin')]);
    const wrong = [s, u('Summary'), u('Berlin'), u('For Bob')];
    await send(wrong, 'wrong');
    const [assigned] = await home.calls.assignCall(
      { history: first.branch.history, attemptId: 'wrong' },
      { newHistory: null },
      ann,
    );
    const next = await send([...wrong, a('Booked'), u('Thanks')]);
    expect(next).toMatchObject({ match: 'appended', branch: { history: assigned?.to.history } });
    const other = await send([s, u('Berlin'), a('Which day'), u('Monday')]);
    expect(other).toMatchObject({ match: 'appended', branch: { history: first.branch.history } });
    expect(await shown(other.branch)).toBe(3);
  },
);

test(
  'a conversation that nobody names when a call is assigned has the name of its first words, unless that is taken',
  { tags: ['calls§8.1'] },
  async () => {
    const names: (string | null)[] = [];
    for (const id of ['one', 'two']) {
      const within = { run: id };
      await send([s, u('Berlin')], `${id}-first`, within);
      const { branch } = await send([s, u('Summary'), u('Berlin'), u('For Bob')], id, within);
      const call = { history: branch.history, attemptId: id };
      const [assigned] = await home.calls.assignCall(call, { newHistory: null }, ann);
      names.push((await home.read.history(assigned?.to.history as string)).name);
    }
    expect(names).toEqual(['Summary-please-as-soon-as-possible', 'Summary-please-as-soon-as-possible-2']);
  },
);

test(
  'a call of an erasable history is assigned to one about the same subject only, and what it says stands nowhere in the clear',
  { tags: ['calls§8.5'] },
  async () => {
    const word = 'xylophone';
    const begin = async (name: string, subject?: string): Promise<BranchRef> => {
      const history = historyId(name, '');
      const erasable = subject === undefined ? undefined : { erasable: { subject } };
      const start = { op: 'start', name, ...erasable } as const;
      await home.submit({ id: `start-${name}`, history, branchId: 0, by, steps: [start] });
      return branchRefOf(history, 0);
    };
    const from = await begin('private', 'bob');
    const open = await begin('open');
    const others = await begin('others', 'eve');
    const same = await begin('same', 'bob');
    for (const id of ['one', 'two'])
      await home.calls.recordCall(from, {
        id,
        by,
        messages: [s, u(word), u(id)] as never,
        facts: {
          ...{ api: 'openai.chat', model: 'm', parameters: {}, tools: null },
          request: bodyOf([s, u(word), u(id)]),
        },
      });
    const assign = (attemptId: string, to: Parameters<Home['calls']['assignCall']>[1]) =>
      home.calls.assignCall({ history: from.history, attemptId }, to, ann);
    for (const branch of [open, others])
      await expect(assign('one', { branch })).rejects.toMatchObject({ code: 'E_TARGET_NOT_ERASABLE' });
    await assign('one', { branch: same });
    const [assigned] = await assign('two', { newHistory: null });
    const history = assigned?.to.history as string;
    expect((await home.read.history(history)).name).toBeNull();
    const events = await home.read.events(history, { limit: 9 });
    expect(events.find(({ event: { type } }) => type === 'HistoryStarted')?.event).toMatchObject({
      erasable: { subject: 'bob' },
    });
    await home.close();
    const log = join(at.directory, 'log');
    for (const file of readdirSync(log, { recursive: true, encoding: 'utf8' }))
      if (statSync(join(log, file)).isFile())
        expect(readFileSync(join(log, file)).includes(word), file).toBe(false);
    home = await openHome({ directory: at.directory });
  },
);

test(
  'an assignment is an intervention of an actor with a reason, and has one effect',
  { tags: ['calls§8.3'] },
  async () => {
    const first = await send([s, u('Berlin')]);
    const other = await send([u('Something else')]);
    const assign = () =>
      home.calls.assignCall(
        { history: other.branch.history, attemptId: 'call-2' },
        { branch: first.branch },
        ann,
      );
    const once = await assign();
    expect(await assign()).toEqual(once);
    const page = await home.queries.audit.interventions(other.branch, {});
    expect(page.interventions).toHaveLength(1);
    expect(page.interventions[0]).toMatchObject({
      actor: 'ann',
      notes: 'another user',
      content: { commands: [{ op: 'reassign_call', attempt: 'call-2', to: once[0]?.to }] },
    });
    await expect(
      home.calls.assignCall(
        { history: other.branch.history, attemptId: 'call-2' },
        { newHistory: null },
        ann,
      ),
    ).rejects.toMatchObject({ code: 'E_COMMAND_INVALID' });
    await expect(
      home.calls.assignCall(
        { history: first.branch.history, attemptId: 'call-1' },
        { branch: first.branch },
        ann,
      ),
    ).rejects.toMatchObject({ code: 'E_COMMAND_INVALID' });
    await expect(
      home.calls.assignCall({ history: first.branch.history, attemptId: 'none' }, { newHistory: null }, ann),
    ).rejects.toMatchObject({ code: 'E_CALL_NOT_FOUND' });
  },
);

test('a call and those after it go to one place', { tags: ['calls§8.1'] }, async () => {
  const talk = [s, u('Berlin'), a('Which day'), u('Monday'), a('Booked'), u('Thanks')];
  const { branch } = await send(talk.slice(0, 2));
  await send(talk.slice(0, 4));
  await send(talk.slice(0, 4));
  await send(talk);
  const assigned = await home.calls.assignCall(
    { history: branch.history, attemptId: 'call-2' },
    { newHistory: null },
    ann,
    true,
  );
  expect(assigned.map(({ from }) => from.attemptId)).toEqual(['call-2', 'call-3', 'call-4']);
  const { history, branchId } = assigned[0]?.to as NonNullable<(typeof assigned)[0]>['to'];
  expect((await listed(branchRefOf(history, branchId))).map(([, label]) => label)).toEqual([
    '@c1',
    '@c1',
    '@c2',
  ]);
});

test(
  'a call of a sub-agent is linked to the call whose tool asks for it',
  { tags: ['calls§3.8'] },
  async () => {
    const parent = await send([s, u('A trip to Berlin')]);
    await end(
      parent.branch,
      'call-1',
      called('research', { task: 'Find hotels in Berlin near the station' }),
    );
    const agent: Message = { role: 'system', content: 'You search.' };
    const task: Message = { role: 'user', content: 'Find hotels in Berlin near the station' };
    const child = await send([agent, task]);
    const summary = await home.read.history(child.branch.history);
    expect(summary.branches[0]?.calledBy).toEqual({
      ...{ history: parent.branch.history, branchId: 0, attemptId: 'call-1', why: 'argument' },
    });
    expect((await home.calls.find(parent.branch.history, 'call-1')).ledTo).toEqual([
      { history: child.branch.history, branchId: 0 },
    ]);
    // The only one that waits, though it says nothing of this.
    const another = await send([agent, u('Something')]);
    expect((await home.read.history(another.branch.history)).branches[0]?.calledBy).toMatchObject({
      why: 'waiting',
    });
    // Its tool has answered: it waits no more.
    await send([
      s,
      u('A trip to Berlin'),
      called('research', {}),
      { role: 'tool', tool_call_id: 't1', content: 'Here' },
    ]);
    const later = await send([agent, u('Anything')]);
    expect((await home.read.history(later.branch.history)).branches[0]?.calledBy).toBe(null);
    // Calls of another run are not looked at.
    const elsewhere = await send([agent, task], 'elsewhere', { run: 'r2' });
    expect((await home.read.history(elsewhere.branch.history)).branches[0]?.calledBy).toBe(null);
  },
);

test('a link is corrected by an actor', { tags: ['calls§8.4'] }, async () => {
  const parent = await send([s, u('A trip')]);
  await end(parent.branch, 'call-1', called('research', {}));
  const child = await send([u('Something')]);
  const { history } = child.branch;
  const link = async (parentCall: object | null) => {
    await home.submit({
      ...{ id: `link-${++calls}`, history, branchId: 0, ...ann },
      steps: [{ op: 'link', parent: parentCall as never }],
    });
    return (await home.read.history(history)).branches[0]?.calledBy;
  };
  expect(await link(null)).toBe(null);
  expect((await home.calls.find(parent.branch.history, 'call-1')).ledTo).toEqual([]);
  const address = { history: parent.branch.history, branchId: 0, attemptId: 'call-1' };
  expect(await link(address)).toEqual({ ...address, why: 'assigned' });
});

test(
  'a link that would make a circle is refused, and one that is there is not recorded again',
  { tags: ['calls§8.4'] },
  async () => {
    const addressOf = ({ branch }: Awaited<ReturnType<typeof send>>, attemptId: string) => ({
      ...{ history: branch.history, branchId: branch.branchId, attemptId },
    });
    const first = await send([s, u('A trip')], 'one', { run: 'r1' });
    const second = await send([u('Something')], 'two', { run: 'r2' });
    const third = await send([u('Anything')], 'three', { run: 'r3' });
    const link = (child: typeof first, parent: ReturnType<typeof addressOf> | null) =>
      home.calls.linkConversation(child.branch, parent, ann);
    await link(second, addressOf(first, 'one'));
    expect((await link(third, addressOf(second, 'two'))).before).toBe(false);
    const frames = (await home.read.history(third.branch.history)).frames;
    expect((await link(third, addressOf(second, 'two'))).before).toBe(true);
    expect((await home.read.history(third.branch.history)).frames).toBe(frames);
    for (const [parent, said] of [
      [addressOf(third, 'three'), 'a circle'],
      [addressOf(second, 'two'), 'a circle'],
      [addressOf(first, 'one'), 'itself'],
    ] as const)
      await expect(link(first, parent)).rejects.toMatchObject({
        code: 'E_COMMAND_INVALID',
        message: expect.stringContaining(said) as string,
      });
    await link(second, null);
    await link(first, addressOf(third, 'three'));
  },
);

test(
  'a call that goes on from other messages than imported ones is refused, with what to do instead',
  { tags: ['calls§8.1'] },
  async () => {
    const { branch } = await send([s, u('A flight')]);
    await end(branch, 'call-1', a('Booked'));
    const other = { history: historyId('other', ''), branchId: 0, by };
    const said = (id: string, role: string, content: string) =>
      ({ op: 'insert', parent: '^ah', node: { id, nodeType: 'cb', role, content } }) as const;
    await home.submit({
      ...{ ...other, id: 'first' },
      steps: [{ op: 'start', name: 'other' }, said('m0', 'user', 'Another question'), { op: 'commit' }],
    });
    await home.submit({
      ...{ ...other, id: 'second' },
      steps: [said('m1', 'assistant', 'Another answer'), { op: 'commit' }],
    });
    const exported = await home.read.view(await home.position(await home.find('other')));
    await home.submit({
      id: 'import-2',
      history: historyId('imported', 'import-2'),
      branchId: 0,
      by,
      steps: [
        {
          op: 'import',
          name: 'imported',
          export: exportTree(exported.tree, exported.payloads),
          thread: exported.thread,
        },
      ],
    });
    const to = { branch: await home.find('imported') };
    await expect(
      home.calls.assignCall({ history: branch.history, attemptId: 'call-1' }, to, ann),
    ).rejects.toMatchObject({
      code: 'E_MESSAGES_DIFFER',
    });
    expect(await listed(branch)).toEqual([['call-1', '@c1', 'started', null]]);
    const [moved] = await home.calls.assignCall(
      { history: branch.history, attemptId: 'call-1' },
      { newHistory: 'its-own' },
      ann,
    );
    expect(moved?.to.history).toBe((await home.find('its-own')).history);
  },
);
