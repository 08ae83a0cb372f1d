import { openHome, type Home } from '@stemma/home';
import { toOpenAIMessages } from '@stemma/importers';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callsTool, openRecording, result, says, system, user, type Message } from './recorded-agent.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-places-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true });
});

const S = system('You watch pumps.');
const TASK = user('Watch pumps one to nine, and say what they show.');
const read = (i: number): Message => callsTool(`call_${i}`, 'read', { pump: i });
const shown = (i: number, bar = i): Message => result(`call_${i}`, `pump ${i}: ${bar} bar, no alarm`);

/** Runs an agent that reads pumps one after the other, each read being a call. @returns the lists it sent, and their places */
const watch = async (
  { call }: ReturnType<typeof openRecording>,
  pumps: number,
  bar: (i: number) => number = (i) => i,
) => {
  const messages: Message[] = [S, TASK];
  const places = [];
  for (let i = 1; i <= pumps; i++) {
    places.push(await call([...messages], read(i)));
    messages.push(read(i), shown(i, bar(i)));
  }
  return { messages, places };
};

const forksOf = async (history: string) =>
  (await home.read.events(history)).filter(({ event }) => event.type === 'BranchStarted').length;

test.each(['named', 'run'] as const)(
  'the same run again is other attempts up to the first difference, and a fork from there (%s)',
  { tags: ['calls§3.4'] },
  async (scope) => {
    const recording = openRecording(home, scope === 'named' ? { name: 'pumps' } : { run: 'r' });
    const first = await watch(recording, 9);
    const again = await watch(recording, 9, (i) => (i === 3 ? 33 : i));
    const [start] = first.places;
    expect(first.places.map(({ match }) => match)).toEqual(['started', ...Array(8).fill('appended')]);
    expect(again.places.map(({ match }) => match)).toEqual([
      ...['repeated', 'repeated', 'repeated', 'forked'],
      ...Array(5).fill('appended'),
    ]);
    expect(new Set([...first.places, ...again.places].map(({ branch }) => branch.history)).size).toBe(1);
    expect(new Set(again.places.slice(3).map(({ branch }) => branch.branchId)).size).toBe(1);
    const history = start?.branch.history ?? '';
    const removed = (await home.read.events(history)).filter(({ event }) => event.type === 'NodeRemoved');
    expect([removed.length, await forksOf(history)]).toEqual([0, 1]);
  },
);

test('a third run with the other result goes on where the second went', { tags: ['calls§3.4'] }, async () => {
  const recording = openRecording(home, { run: 'r' });
  await watch(recording, 5);
  const second = await watch(recording, 5, (i) => (i === 3 ? 33 : i));
  const third = await watch(recording, 6, (i) => (i === 3 ? 33 : i));
  expect(third.places.map(({ match }) => match)).toEqual([...Array(5).fill('repeated'), 'appended']);
  expect(third.places[5]?.branch).toEqual(second.places[4]?.branch);
});

test('a run into a fork goes on at the position of the fork', { tags: ['calls§3.4'] }, async () => {
  const first = await watch(openRecording(home, { name: 'pumps' }), 9);
  const main = first.places[0]?.branch;
  if (main === undefined) throw new Error('there is no branch');
  const { attempts } = await home.calls.list(main);
  const sixth = attempts[5];
  if (sixth === undefined) throw new Error('there is no sixth call');
  const forked = await home.submit({
    ...{ id: 'fork', history: main.history, branchId: main.branchId, by: { actor: 'ann' } },
    steps: [{ op: 'fork', at: { branchId: sixth.branchId, seq: sixth.seq } }],
  });
  const name = `${main.history}:${forked.branchId}`;
  const again = await watch(openRecording(home, { name }), 8, (i) => (i > 5 ? i + 10 : i));
  expect(again.places.map(({ match, branch }) => [match, branch.branchId === forked.branchId])).toEqual([
    ...Array(5).fill(['repeated', true]),
    ...Array(3).fill(['named', true]),
  ]);
  const cycles = (await home.calls.list({ ...main, branchId: forked.branchId })).attempts;
  expect(cycles.slice(-3).map(({ cycle }) => cycle)).toEqual([6, 7, 8]);
  const removed = (await home.read.events(main.history)).filter(({ event }) => event.type === 'NodeRemoved');
  expect(removed).toEqual([]);
});

test(
  'a compaction that keeps the last exchange goes on, though its answer was in no request',
  { tags: ['calls§3.3'] },
  async () => {
    const recording = openRecording(home, { run: 'r' });
    const { messages, places } = await watch(recording, 4);
    const compacted = [
      S,
      user('Summary: pumps one to four were read.'),
      ...messages.slice(-2),
      user('Go on.'),
    ];
    const { match, branch } = await recording.call(compacted, says('ok'));
    expect([match, branch]).toEqual(['rewritten', places[0]?.branch]);
  },
);

test('a list that keeps nothing but a short newest answer goes on under the same system message', async () => {
  const recording = openRecording(home, { run: 'r' });
  const first = await recording.call([S, TASK], says('Pumps one to nine are dry today.'));
  const compacted = [
    S,
    user('Summary: all is dry.'),
    says('Pumps one to nine are dry today.'),
    user('And ten?'),
  ];
  const { match, branch } = await recording.call(compacted, says('ok'));
  expect([match, branch]).toEqual(['rewritten', first.branch]);
});

test('a compaction that begins with the newest answer goes on', { tags: ['calls§3.3'] }, async () => {
  const recording = openRecording(home, { run: 'r' });
  const { places } = await watch(recording, 4);
  const { match, branch } = await recording.call([read(4), shown(4), user('Go on.')], says('ok'));
  expect([match, branch]).toEqual(['rewritten', places[0]?.branch]);
});

test('a system message that changes with each call goes on', { tags: ['calls§3.3'] }, async () => {
  const { call } = openRecording(home, { run: 'r' });
  const at = (time: string): Message => system(`It is ${time}. You help.`);
  const first = await call([at('10:01'), user('one')], says('a'));
  const second = await call([at('10:02'), user('one'), says('a'), user('two')], says('b'));
  const third = await call(
    [at('10:03'), user('one'), says('a'), user('two'), says('b'), user('three')],
    says('c'),
  );
  expect([second, third].map(({ match, branch }) => [match, branch])).toEqual(
    Array(2).fill(['rewritten', first.branch]),
  );
});

test(
  'another agent that is shown the same task is another conversation',
  { tags: ['calls§3.5'] },
  async () => {
    const { call } = openRecording(home, { run: 'r' });
    const first = await call([system('You plan.'), TASK], says('First this, then that, and so on.'));
    const other = await call([system('You review plans.'), TASK, user('The plan: …')], says('Good.'));
    expect([other.match, other.branch.history === first.branch.history]).toEqual(['started', false]);
  },
);

test('a call that had to call one tool calls nobody', { tags: ['calls§3.8'] }, async () => {
  const { call } = openRecording(home, { run: 'r' });
  const tools = [{ type: 'function', function: { name: 'Person' } }];
  const answer = callsTool('c1', 'Person', { age: 7 });
  for (const tool_choice of [{ type: 'function', function: { name: 'Person' } }, 'required'])
    await call([user(`Jason is 7 (${JSON.stringify(tool_choice)})`)], answer, {
      ...{ tools, parameters: { tool_choice } },
    });
  const mail = await call([user('translate this mail')], says('done'));
  const events = await home.read.events(mail.branch.history);
  const started = events.find(({ event }) => event.type === 'CallStarted')?.event;
  expect(started?.type === 'CallStarted' && started.prompt?.origin).toBe(null);
});

test('a helper that runs beside who asked for it is linked to the call that asked', async () => {
  const { call } = openRecording(home, { run: 'r' });
  const asks = callsTool('c1', 'Agent', { prompt: 'Check pier one, and say whether it is dry.' });
  const main = [S, user('Look at the harbour.')];
  const first = await call(main, asks);
  // The tool says at once that the helper was launched, and its conversation begins after the next call.
  await call([...main, asks, result('c1', 'launched')], says('It is launched.'));
  const helper = await call(
    [S, { role: 'user', content: [text('<reminder/>'), text('Check pier one, and say whether it is dry.')] }],
    says('Dry.'),
  );
  const { histories } = await home.read.listHistories({});
  const [branch] = histories.find(({ history }) => history === helper.branch.history)?.branches ?? [];
  expect([branch?.calledBy?.history, branch?.mayContinue]).toEqual([first.branch.history, null]);
});

const text = (said: string) => ({ type: 'text', text: said });

test('helpers that begin at once under one system message are conversations of their own', async () => {
  const { call } = openRecording(home, { run: 'r' });
  const asks = callsTool('c1', 'Agent', { prompts: ['Check pier one, please.', 'Check pier two, please.'] });
  await call([S, user('Look at the harbour.')], asks);
  // The system says the same to both behind what they are asked, and the first one is not answered yet.
  const tools = system('Other tools are found by a search.');
  const one = await call([S, user('Check pier one, please.'), tools], null);
  const two = await call([S, user('Check pier two, please.'), tools], says('Dry.'));
  expect([two.match, two.branch.history === one.branch.history]).toEqual(['started', false]);
});

test('a helper is called by the call that waits, though an earlier helper was told the same by the system', async () => {
  const { call } = openRecording(home, { run: 'r' });
  const helper = system('You help.');
  const [A, B] = [callsTool('c1', 'ask', { n: 1 }), callsTool('c2', 'ask', { n: 2 })];
  const main = [S, user('Look at the harbour.')];
  await call(main, A);
  const first = await call([helper, user('The first pier?')], says('Wait.'));
  await call([helper, user('The first pier?'), says('Wait.'), user('Well?')], says('Dry.'));
  const asked = await call([...main, A, result('c1', 'Dry.')], B);
  const second = await call([helper, user('The second pier?')], says('Wet.'));
  const { histories } = await home.read.listHistories({});
  const linkOf = (history: string) => {
    const [branch] = histories.find((each) => each.history === history)?.branches ?? [];
    return [branch?.calledBy?.history, branch?.mayContinue];
  };
  expect([first, second].map(({ branch }) => linkOf(branch.history))).toEqual(
    Array(2).fill([asked.branch.history, null]),
  );
});

const item = (id: string, text: string) => ({
  ...{ type: 'message', id, role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
});
const toolCall = (id: string, call_id: string) => ({
  ...{ type: 'function_call', id, call_id, status: 'completed' },
  ...{ name: 'look', arguments: '{"pier":1}' },
});
const shownTo = async (branch: { readonly history: string; readonly branchId: number }): Promise<unknown> => {
  const { attempts } = await home.calls.list({ ...branch, branch: branch.history });
  const last = attempts.at(-1);
  const { notShown } = await home.calls.find(branch.history, last?.attemptId ?? '');
  const position = await home.position({ ...branch, branch: branch.history }, last?.label ?? '');
  const { tree, payloads, thread } = await home.read.view(position);
  return [
    notShown,
    toOpenAIMessages(tree, payloads, thread)
      .map(({ role }) => (typeof role === 'string' ? role : ''))
      .join(' '),
  ];
};

test(
  'what the provider kept of an earlier response is in the thread, and the call goes on there',
  { tags: ['calls§3.11'] },
  async () => {
    const { responses } = openRecording(home, { run: 'r' });
    const common = { instructions: 'You run a harbour.' };
    const first = await responses(
      { ...common, input: 'Is pier 1 dry?' },
      { id: 'resp_a1', output: [toolCall('fc_1', 'c1')] },
    );
    const output = [{ type: 'function_call_output', call_id: 'c1', output: 'dry' }];
    const second = await responses(
      { ...common, previous_response_id: 'resp_a1', input: output },
      { id: 'resp_a2', output: [item('msg_1', 'It is dry.')] },
    );
    const third = await responses(
      { ...common, previous_response_id: 'resp_a2', input: 'And pier 2?' },
      { id: 'resp_a3', output: [item('msg_2', 'Wet.')] },
    );
    expect([second, third].map(({ match, branch }) => [match, branch])).toEqual(
      Array(2).fill(['appended', first.branch]),
    );
    expect(await shownTo(first.branch)).toEqual([null, 'system user assistant tool assistant user']);
    // From an older response: a fork.
    const other = await responses(
      { ...common, previous_response_id: 'resp_a2', input: 'And pier 3?' },
      { id: 'resp_a4', output: [item('msg_3', 'Wet, too.')] },
    );
    expect([other.match, other.branch.history]).toEqual(['forked', first.branch.history]);
  },
);

test('a call whose earlier messages are looked up is placed before the calls that came after it', async () => {
  const { responses } = openRecording(home, { run: 'r' });
  const hi = { role: 'user', content: 'Is pier 1 dry?' };
  const said = item('msg_1', 'It is dry.');
  const first = await responses({ input: [hi] }, { id: 'resp_d1', output: [said] });
  const [second, third] = await Promise.all([
    responses({ previous_response_id: 'resp_d1', input: 'And pier 2?' }, { id: 'resp_d2', output: [] }),
    responses({ input: [hi, said, { role: 'user', content: 'And pier 3?' }] }, { id: 'resp_d3', output: [] }),
  ]);
  expect([second, third].map(({ match }) => match)).toEqual(['appended', 'forked']);
  expect(second.branch).toEqual(first.branch);
});

test('items that a request names are those of the recorded answers', { tags: ['calls§3.11'] }, async () => {
  const { responses } = openRecording(home, { run: 'r' });
  const hi = { role: 'user', content: 'Is pier 1 dry?' };
  const first = await responses({ input: [hi] }, { id: 'resp_b1', output: [item('msg_1', 'It is dry.')] });
  const named = { type: 'item_reference', id: 'msg_1' };
  const second = await responses(
    { input: [hi, named, { role: 'user', content: 'And pier 2?' }] },
    { id: 'resp_b2', output: [item('msg_2', 'Wet.')] },
  );
  expect([second.match, second.branch]).toEqual(['appended', first.branch]);
  expect(await shownTo(first.branch)).toEqual([null, 'user assistant user']);
});

test(
  'a response that nobody recorded leaves the call where its own messages belong, and says what it lacks',
  { tags: ['calls§3.11'] },
  async () => {
    const { responses } = openRecording(home, { run: 'r' });
    const { match, branch } = await responses(
      { previous_response_id: 'resp_unknown', input: 'And pier 2?' },
      { id: 'resp_c', output: [item('msg_1', 'Wet.')] },
    );
    expect(match).toBe('started');
    expect(await shownTo(branch)).toEqual([expect.stringContaining('previous_response_id'), 'user']);
  },
);

test('a conversation that its provider keeps goes on', { tags: ['calls§3.11'] }, async () => {
  const { responses } = openRecording(home, { run: 'r' });
  const conversation = { id: 'conv_1' };
  const first = await responses(
    { conversation, input: 'Hi' },
    { id: 'r1', output: [item('msg_1', 'Hello.')] },
  );
  const second = await responses(
    { conversation, input: 'Hi' },
    { id: 'r2', output: [item('msg_2', 'Hello again.')] },
  );
  expect([second.match, second.branch]).toEqual(['appended', first.branch]);
});

const SUMMARY = [
  'Pumps one to four were read, and each shows its number in bar.',
  'No pump has an alarm, and pump three was read twice to be sure.',
  'What is left to do is to read the pumps five to nine, in order.',
].join('\n');

/** Has an agent that sent these messages write a summary. */
const summarised = ({ call }: ReturnType<typeof openRecording>, messages: readonly Message[]) =>
  call([...messages, user('Summarise this conversation.')], says(`<summary>\n${SUMMARY}\n</summary>`));
const TOLD = user(`This session goes on from an earlier one:\n${SUMMARY}\nGo on from there.`);

test(
  'a list that is made of the summary that the newest call wrote goes on there',
  { tags: ['calls§3.12'] },
  async () => {
    const recording = openRecording(home, { run: 'r' });
    const { messages, places } = await watch(recording, 4);
    await summarised(recording, messages);
    const next = await recording.call([S, TOLD], read(5));
    expect([next.match, next.branch]).toEqual(['rewritten', places[0]?.branch]);
  },
);

test(
  'a list that replaces everything may continue, and is called by nobody',
  { tags: ['calls§3.12'] },
  async () => {
    const recording = openRecording(home, { run: 'r' });
    const { places } = await watch(recording, 4);
    const next = await recording.call([S, user('Go on with the fifth pump, as agreed.')], read(5));
    expect([next.match, next.branch.history === places[0]?.branch.history]).toEqual(['started', false]);
    const { histories } = await home.read.listHistories({});
    const [branch] = histories.find(({ history }) => history === next.branch.history)?.branches ?? [];
    expect([branch?.calledBy, branch?.mayContinue?.history]).toEqual([null, places[0]?.branch.history]);
  },
);

test(
  'a summary goes on where it was written, though another agent of that system message was heard later',
  { tags: ['calls§3.12'] },
  async () => {
    const recording = openRecording(home, { run: 'r' });
    const { messages, places } = await watch(recording, 4);
    await summarised(recording, messages);
    const beside = [S, user('Watch the tanks.')];
    await recording.call(beside, says('They are full.'));
    await recording.call([...beside, says('They are full.'), user('And now?')], says('They still are.'));
    const next = await recording.call([S, TOLD], read(5));
    expect([next.match, next.branch]).toEqual(['rewritten', places[0]?.branch]);
  },
);

test('a summary that a fork wrote goes on in the fork', { tags: ['calls§3.12'] }, async () => {
  const recording = openRecording(home, { run: 'r' });
  const { messages, places } = await watch(recording, 4);
  const forked = [...messages.slice(0, 5), shown(2, 22)];
  const fork = await recording.call(forked, says('Pump two is odd today.'));
  await summarised(recording, [...forked, says('Pump two is odd today.')]);
  const next = await recording.call([S, TOLD], read(5));
  expect(fork.branch).not.toEqual(places[0]?.branch);
  expect([next.match, next.branch]).toEqual(['rewritten', fork.branch]);
});

test(
  'a summary that two conversations wrote alike may continue the newer one',
  { tags: ['calls§3.12'] },
  async () => {
    const recording = openRecording(home, { run: 'r' });
    await summarised(recording, (await watch(recording, 4)).messages);
    const beside = [S, user('Watch the tanks.')];
    const newer = await recording.call(beside, says('They are full.'));
    await summarised(recording, [...beside, says('They are full.')]);
    const next = await recording.call([S, TOLD], read(5));
    const { histories } = await home.read.listHistories({});
    const [branch] = histories.find(({ history }) => history === next.branch.history)?.branches ?? [];
    expect([next.match, branch?.mayContinue?.history]).toEqual(['started', newer.branch.history]);
  },
);

test(
  'a fork from an answer that its branch keeps from before a compaction is a fork',
  { tags: ['calls§3.4'] },
  async () => {
    const recording = openRecording(home, { run: 'r' });
    const { messages, places } = await watch(recording, 2);
    // The branch shows the exchange alone, and the fork has another result of its tool.
    const compacted = await recording.call(messages.slice(-2), says('Two pumps are read.'));
    expect([compacted.match, compacted.branch]).toEqual(['rewritten', places[0]?.branch]);
    const forked = await recording.call([...messages.slice(0, -1), shown(2, 22)], read(3));
    expect([forked.match, forked.branch.history]).toEqual(['forked', places[0]?.branch.history]);
    expect(forked.branch).not.toEqual(places[0]?.branch);
  },
);

test.each([
  ['each with its answer', says('And to you, whoever you are.')],
  ['with the same answer', says('Hello to you, whoever you are.')],
])(
  'two conversations that begin alike are two branches with their own calls, %s',
  { tags: ['calls§3.13'] },
  async (_what, other) => {
    const { call } = openRecording(home, { run: 'r' });
    const hi = [S, user('hi')];
    const answers = [says('Hello to you, whoever you are.'), other];
    const firsts = [await call(hi, answers[0] as Message), await call(hi, answers[1] as Message)];
    const lists = [0, 1].map((i) => [...hi, answers[i] as Message, user(`I am user ${i}.`)]);
    const seconds = [
      await call(lists[0] as Message[], says('Good.')),
      await call(lists[1] as Message[], says('Good.')),
    ];
    const thirds = [];
    for (const list of lists)
      thirds.push(await call([...list, says('Good.'), user('Go on.')], says('Done.')));
    expect(firsts.map(({ match }) => match)).toEqual(['started', 'repeated']);
    expect(seconds.map(({ match }) => match)).toEqual(['appended', 'forked']);
    expect(thirds.map(({ branch }) => branch)).toEqual(seconds.map(({ branch }) => branch));
    const [main, fork] = seconds.map(({ branch }) => branch);
    if (main === undefined || fork === undefined) throw new Error('there are no branches');
    const { history } = main;
    expect((await home.calls.counts(history)).map(({ calls }) => calls)).toEqual([3, 3]);
    const of = async (branch: typeof main) =>
      (await home.calls.list(branch)).attempts.map(({ attemptId }) => attemptId);
    const [mine, theirs] = [await of(main), await of(fork)];
    expect([mine.length, theirs.length, mine.filter((id) => theirs.includes(id))]).toEqual([3, 3, []]);
  },
);
