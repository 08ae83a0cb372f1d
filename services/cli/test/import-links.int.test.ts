import { compareCodePoints } from '@stemma/canonical';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

type Line = Record<string, unknown>;
type Link = { readonly history: string; readonly attemptId: string; readonly why: string } | null;
type Summary = {
  readonly history: string;
  readonly name: string;
  readonly branches: readonly { readonly calledBy: Link }[];
};
type Call = { readonly attempt_id: string; readonly led_to: readonly { readonly history: string }[] };

/** A home of its own for each test. */
const opened = (name: string) => {
  const directory = join(folder.path, name);
  mkdirSync(directory);
  const at = ['--home', join(directory, 'home')];
  keepHomeOpen(join(directory, 'home'));
  const write = (file: string, lines: readonly Line[]): string => {
    const path = join(directory, file);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  };
  return {
    write,
    take: (...files: string[]) => runStemma(['import', ...files, '--json', ...at]),
    histories: async () => (await stemmaJson(['histories', '--json', ...at])) as readonly Summary[],
    calls: async (history: string) =>
      (await stemmaJson(['calls', history, '--json', ...at])) as readonly Call[],
    run: (...args: string[]) => runStemma([...args, ...at]),
  };
};
type Opened = ReturnType<typeof opened>;

/** Who is called by what, by the names of histories and the numbers of calls. */
const linksIn = async (home: Opened): Promise<Readonly<Record<string, string>>> => {
  const all = await home.histories();
  const found: Record<string, string> = {};
  for (const { name, branches } of all) {
    const link = branches[0]?.calledBy ?? null;
    if (link === null) continue;
    const parent = all.find(({ history }) => history === link.history);
    const number = (await home.calls(link.history)).findIndex(({ attempt_id: id }) => id === link.attemptId);
    found[name] = `${parent?.name ?? ''} ${number} ${link.why}`;
  }
  return found;
};

const SESSION = 's-1';
let clock = 0;
const line = (type: string, id: string, parent: string | null, message: Line, more: Line = {}): Line => ({
  ...{
    type,
    uuid: id,
    parentUuid: parent,
    sessionId: SESSION,
    version: '2.1.7',
    isSidechain: false,
    message,
  },
  timestamp: new Date(1_800_000_000_000 + clock++ * 1000).toISOString(),
  ...more,
});
const says = (id: string, parent: string, blocks: readonly Line[], more: Line = {}): Line =>
  line(
    'assistant',
    id,
    parent,
    {
      ...{ role: 'assistant', id: `m-${id}`, model: 'claude-x', content: blocks, stop_reason: null },
      usage: { input_tokens: 9, output_tokens: 2 },
    },
    more,
  );
const person = (id: string, parent: string | null, content: unknown, more: Line = {}): Line =>
  line('user', id, parent, { role: 'user', content }, more);
const text = (said: string): Line => ({ type: 'text', text: said });
const task = (id: string, prompt: string): Line => ({
  type: 'tool_use',
  id,
  name: 'Task',
  input: { prompt },
});
const result = (id: string): Line => ({ type: 'tool_result', tool_use_id: id, content: 'done' });
const started = (id: string, parent: string, tool: string, agentId: string): Line =>
  person(id, parent, [result(tool)], { toolUseResult: { status: 'completed', agentId } });

const session: readonly Line[] = [
  person('u1', null, 'Look after the garden.'),
  says('a1', 'u1', [text('I think.')]),
  person('u2', 'a1', 'Please go on.'),
  says('a2', 'u2', [task('t1', 'Count the beds.'), task('t2', 'Count the beds.')]),
  started('u3', 'a2', 't2', 'two'),
  started('u4', 'u3', 't1', 'one'),
  says('a3', 'u4', [task('t3', 'Water the roses, all of them.')]),
];
const agent = (id: string, prompt: string): readonly Line[] =>
  [person(`${id}1`, null, prompt), says(`${id}2`, `${id}1`, [text('Done.')])].map((each) => ({
    ...each,
    ...{ isSidechain: true, agentId: id },
  }));

describe('sub-agents of Claude Code', () => {
  test.each(['first', 'last'])(
    'are called by the call whose result names them, if their files come %s',
    { tags: ['imports§3.1', 'imports§3.2'] },
    async (order) => {
      const home = opened(`claude-${order}`);
      const main = home.write('s-1.jsonl', session);
      const agents = [
        home.write('s-1/subagents/agent-one.jsonl', agent('one', 'Count the beds.')),
        home.write('s-1/subagents/agent-two.jsonl', agent('two', 'Count the beds.')),
        // The call of this one has no result yet.
        home.write('s-1/subagents/agent-red.jsonl', agent('red', 'Water the roses, all of them.')),
      ];
      await home.take(...(order === 'first' ? [...agents, main] : [main, ...agents]));
      const links = await linksIn(home);
      expect(Object.values(links).toSorted(compareCodePoints)).toEqual([
        'Look-after-the-garden 1 said',
        'Look-after-the-garden 1 said',
        'Look-after-the-garden 2 argument',
      ]);
      const [, caller] = await home.calls('Look-after-the-garden');
      expect(caller?.led_to).toHaveLength(2);
      const { stdout } = await home.run('calls', 'Water-the-roses-all-of-them');
      expect(stdout).toMatch(/^called by \S+ in \S+ \(guessed: its tool has what is asked here\)/);
      const seen = await home.run('calls', 'Count-the-beds');
      expect(seen.stdout).toMatch(/^called by \S+ in \S+\n/);

      // Nothing is recorded twice; when the result comes, it says so.
      const before = await home.histories();
      await home.take(main, ...agents);
      expect(await home.histories()).toEqual(before);
      home.write('s-1.jsonl', [...session, started('u5', 'a3', 't3', 'red')]);
      await home.take(main);
      expect((await linksIn(home))['Water-the-roses-all-of-them']).toBe('Look-after-the-garden 2 said');
    },
  );

  test(
    'are linked when the other file comes later, and go on as they did',
    { tags: ['imports§3.1'] },
    async () => {
      const home = opened('claude-later');
      const lines = agent('one', 'Count the beds.');
      const child = home.write('agent-one.jsonl', lines);
      const alone = await home.take(child);
      expect(alone.stderr).toContain('1 of 1 conversations of sub-agents are not linked to a call');
      await home.take(home.write('s-1.jsonl', session));
      expect(await linksIn(home)).toEqual({ 'Count-the-beds': 'Look-after-the-garden 1 said' });
      home.write('agent-one.jsonl', [
        ...lines,
        { ...says('one3', 'one2', [text('More.')]), isSidechain: true, agentId: 'one' },
      ]);
      await home.take(child);
      const [history, ...others] = (await home.histories()).filter(({ name }) => name === 'Count-the-beds');
      expect([history?.branches.length, others]).toEqual([1, []]);
      expect(await home.calls('Count-the-beds')).toHaveLength(2);
    },
  );

  test(
    'have no link where two calls have the same prompt, and keep the one that somebody gave them',
    { tags: ['imports§3.2', 'imports§3.3'] },
    async () => {
      const home = opened('claude-two');
      const twice = [
        person('u1', null, 'Look after it.'),
        says('a1', 'u1', [task('t1', 'Count the beds.')]),
        person('u2', 'a1', [result('t1')]),
        says('a2', 'u2', [task('t2', 'Count the beds.')]),
        person('u3', 'a2', [result('t2')]),
      ];
      const main = home.write('s-1.jsonl', twice);
      const child = home.write('agent-one.jsonl', agent('one', 'Count the beds.'));
      await home.take(main, child);
      expect(await linksIn(home)).toEqual({});
      await home.run('assign', 'Count-the-beds', '--parent', 'Look-after-it@c1', '--actor', 'ann');
      home.write('s-1.jsonl', [...twice, started('u4', 'u3', 't2', 'one')]);
      await home.take(main, child);
      expect(await linksIn(home)).toEqual({ 'Count-the-beds': 'Look-after-it 0 assigned' });
    },
  );

  test(
    'two that say of each other that they led to them make no circle',
    { tags: ['imports§3.3'] },
    async () => {
      const home = opened('claude-circle');
      const both = (id: string, other: string): readonly Line[] => [
        person(`${id}1`, null, 'Ask the other one.'),
        says(`${id}2`, `${id}1`, [task(`t-${id}`, 'Ask the other one.')]),
        started(`${id}3`, `${id}2`, `t-${id}`, other),
      ];
      const files = [
        ['one', 'two'],
        ['two', 'one'],
      ].map(([id = '', other = '']) =>
        home.write(
          `agent-${id}.jsonl`,
          both(id, other).map((each) => ({ ...each, isSidechain: true, agentId: id })),
        ),
      );
      await home.take(...files);
      expect(Object.keys(await linksIn(home))).toHaveLength(1);
    },
  );
});

test('a thread that Codex spawned is called by the call of its tool', { tags: ['imports§3.1'] }, async () => {
  const home = opened('codex');
  const rollout = (type: string, payload: Line): Line => ({
    timestamp: new Date(1_800_000_000_000 + clock++ * 1000).toISOString(),
    ...{ type, payload },
  });
  const asks = (said: string): Line =>
    rollout('response_item', {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: said }],
    });
  const answers = (said: string): Line =>
    rollout('response_item', {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: said }],
    });
  const spawn = (id: string): Line =>
    rollout('response_item', {
      ...{ type: 'function_call', name: 'spawn_agent', call_id: id },
      arguments: '{"message":"Weed."}',
    });
  const output = (id: string, agentId: string): Line =>
    rollout('response_item', {
      ...{ type: 'function_call_output', call_id: id },
      output: JSON.stringify({ agent_id: agentId }),
    });
  const of = (id: string, lines: readonly Line[], source: unknown = 'cli'): string =>
    home.write(`rollout-${id}.jsonl`, [
      rollout('session_meta', { id, cli_version: '0.144.0', source }),
      ...lines,
    ]);
  const spawned = { subagent: { thread_spawn: { parent_thread_id: 'th-1', depth: 1 } } };
  await home.take(
    of('th-1', [asks('Tend it.'), spawn('c1'), output('c1', 'th-2'), spawn('c2'), output('c2', 'th-3')]),
    of('th-2', [asks('Weed one.'), answers('Done.')], spawned),
    of('th-3', [asks('Weed two.'), answers('Done.')], spawned),
  );
  expect(await linksIn(home)).toEqual({ 'Weed-one': 'Tend-it 0 said', 'Weed-two': 'Tend-it 1 said' });
});
