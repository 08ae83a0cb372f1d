import { openAnswers } from '@stemma/answers';
import { addressOf, QUESTIONS, toWireJson, type Question } from '@stemma/api';
import { isStemmaError } from '@stemma/errors';
import { createGateway } from '@stemma/gateway';
import { holdOf } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
const directory = join(folder.path, 'home');
const samples = join(import.meta.dirname, '../../../samples');
let home: Home;
/** What each parameter of a question may be. */
let values: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  const at = ['--home', directory];
  await stemmaJson(['import', join(samples, 'slow-checkout.steps.jsonl'), '--history', 'h', ...at]);
  const pool = ['--messages', join(samples, 'seeds.txt'), '--sample-size', '3', '--actor', 'ada'];
  await stemmaJson(['pool', 'init', 'sea', ...pool, ...at]);
  await stemmaJson(['fork', 'h', '@c3', '--name', 'other', '--actor', 'ada', ...at]);
  home = await openHome({ directory });
  const h = await home.find('h');
  for (const attemptId of ['held-1', 'held-2'])
    await home.submit({
      ...{ id: holdOf(attemptId), history: h.history, branchId: h.branchId, by: { recorder: 'proxy' } },
      steps: [
        {
          ...{ op: 'hold_call', attemptId, api: 'openai.chat', model: 'm', breakpoints: ['b1'] },
          ...{ until: Date.now() + 86_400_000, then: 'go-on' },
        },
      ],
    });
  const { interventions } = await home.queries.audit.interventions(h, {}, {});
  const [first, third] = [
    await home.read.tree(await home.position(h, '@c1')),
    await home.read.tree(await home.position(h, '@c3')),
  ];
  const fresh = third.tree.ids.find((id) => first.tree.indexOf(id) === undefined);
  values = {
    history: 'h',
    session: 'h',
    node: fresh,
    attempt: 'nobody',
    id: interventions[0]?.id,
    selector: '@c1..@c2 .cb',
    a: '@c1',
    b: '@c2',
    q: 'checkout',
    good: '@c1',
    bad: '@c3',
    when: `#${String(fresh)}`,
    text: 'the sea',
    path: 'src/a.ts',
  };
}, 60_000);
afterAll(async () => {
  await home.close();
  folder[Symbol.dispose]();
});

const names = (question: Question): readonly string[] =>
  Object.keys({ ...question.params?.shape, ...question.query?.shape });

/** What a question is asked with: all that it takes of what is known. @param of what differs */
const inputOf = (question: Question, of: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(
    names(question).flatMap((name) => {
      const value = of[name] ?? values[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const asked = async (question: Question, input: Record<string, unknown>): Promise<string> => {
  const ask = openAnswers(home).ask as (question: Question, input: unknown) => Promise<unknown>;
  try {
    const answer = await ask(question, input);
    return question.answer.kind === 'json'
      ? toWireJson(answer)
      : typeof answer === 'string'
        ? answer
        : Buffer.from(answer as Uint8Array).toString();
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return error.code;
  }
};

const overHttp = async (question: Question, input: Record<string, unknown>): Promise<string> => {
  const address = `http://127.0.0.1${addressOf(question, input)}`;
  const response = await createGateway({ home }).request(address, { headers: { host: '127.0.0.1' } });
  const text = await response.text();
  return response.ok ? text : (JSON.parse(text) as { error: { code: string } }).error.code;
};

/** What narrows and details an answer: each question takes some of it. */
const DETAILED = {
  ...{
    at: '@c2',
    explain: '1',
    includeContent: true,
    contentMode: 'tokens',
    contextLines: 0,
    provider: 'openai',
  },
  ...{ maxChangesPerSnapshot: 1, maxSnapshots: 9, skip: 1, limit: 1, from: 1, after: 1, before: 3, tail: 1 },
  ...{ bytes: '5-17', excerpt: 5, holds: 'none', order: 'newest', actor: 'ada', type: 'fork', format: 'csv' },
};

/** Their answers say when they were made, and how much they looked at. */
const OF_THE_MOMENT: readonly string[] = ['doctor', 'checkpoint', 'stats'];

const whole = Object.values<Question>(QUESTIONS).filter(({ streamed }) => streamed !== true);

test.each(whole.map((question) => [question.name, question] as const))(
  'a program and a client of HTTP get one answer: %s',
  async (name, question) => {
    for (const other of [
      {},
      { selector: '.cb' },
      { history: 'sea', node: 'nothing', selector: '.cb' },
      { history: 'nobody' },
      DETAILED,
    ]) {
      const input = inputOf(question, other);
      const [own, http] = [await asked(question, input), await overHttp(question, input)];
      if (OF_THE_MOMENT.includes(name))
        expect(Object.keys(JSON.parse(own) as object)).toEqual(Object.keys(JSON.parse(http) as object));
      else expect(own).toBe(http);
    }
  },
);

test('most questions of the law are answered, not refused', async () => {
  const refused: string[] = [];
  for (const question of whole) {
    const answers = [
      await asked(question, inputOf(question)),
      await asked(question, inputOf(question, { selector: '.cb' })),
      await asked(question, inputOf(question, { history: 'sea', selector: '.cb', b: 'main' })),
    ];
    if (answers.every((answer) => answer.startsWith('E_'))) refused.push(question.name);
  }
  // Of calls and files nothing is recorded here, and a verdict needs two arms.
  expect(refused).toEqual([
    'file',
    'files',
    'attempt',
    'attemptRequest',
    'attemptCame',
    'attemptResponse',
    'verdict',
    'report',
  ]);
});

const CONTENT = ['--include-content', '--content-mode', 'tokens', '--context-lines', '0'];
const OF_CONTENT = { includeContent: true, contentMode: 'tokens', contextLines: 0 };
const WINDOW = ['--skip', '1', '--limit', '2', '--max-changes', '1', '--max-snapshots', '5'];
const OF_WINDOW = { skip: 1, limit: 2, maxChangesPerSnapshot: 1, maxSnapshots: 5 };

/** Command lines whose document is the answer of a question. */
const SAME: readonly (readonly [
  line: readonly string[],
  question: Question,
  of?: Record<string, unknown>,
])[] = [
  [['thread', 'h'], QUESTIONS.thread],
  [['export', 'h'], QUESTIONS.export],
  [['diff', 'h', '@c1', '@c2'], QUESTIONS.diff, { selector: undefined }],
  [['branches', 'h'], QUESTIONS.branches],
  [['held'], QUESTIONS.held, { history: undefined }],
  [['held', 'h'], QUESTIONS.held, { history: 'h' }],
  [['held', 'h', '--all'], QUESTIONS.heldOf],
  [['runs', 'sea'], QUESTIONS.poolRuns, { history: 'sea' }],
  [['pool', 'metrics', 'sea'], QUESTIONS.poolMetrics, { history: 'sea' }],
  [['grep', 'checkout', '--in', 'h'], QUESTIONS.search],
  [['thread', 'h', '@c1', '--provider', 'openai'], QUESTIONS.thread, { at: '@c1', provider: 'openai' }],
  [['thread', 'h', '@c1', '--provider', 'anthropic'], QUESTIONS.thread, { at: '@c1', provider: 'anthropic' }],
  [['diff', 'h', '@c1', '@c2', '--select', '.cb'], QUESTIONS.diff, { selector: '.cb' }],
  [['select', 'h', '@c1..@c2 .cb'], QUESTIONS.range],
  [
    ['select', 'h', '@c8..@c9 #plan', ...CONTENT],
    QUESTIONS.range,
    { selector: '@c8..@c9 #plan', ...OF_CONTENT },
  ],
  [['select', 'h', '@c1..@c5 .cb', ...WINDOW], QUESTIONS.range, { selector: '@c1..@c5 .cb', ...OF_WINDOW }],
  [['tools', 'h'], QUESTIONS.tools],
  [['tools'], QUESTIONS.tools, { history: undefined }],
];

test.each(SAME.map(([line, ...rest]) => [line.join(' '), line, ...rest] as const))(
  'the command line prints the answer of the question: %s',
  async (_title, line, question, of = {}) => {
    const input = { ...inputOf(question, of), ...of };
    for (const [name, value] of Object.entries(input)) if (value === undefined) delete input[name];
    const { code, stdout } = await runStemma([...line, '--json', '--home', directory]);
    expect([code, stdout.trimEnd()]).toEqual([0, await asked(question, input)]);
  },
);

/** Command lines whose document has the values of an answer, or of a part of it. NODE is a node that one step brought. */
const VALUES: readonly (readonly [
  line: readonly string[],
  question: Question,
  of: Record<string, unknown>,
  part?: string,
])[] = [
  [['diff', 'h', '@c1', '@c2', '--explain'], QUESTIONS.diff, { selector: undefined, explain: '1' }],
  [['why', 'h', 'NODE'], QUESTIONS.why, {}],
  [['why', 'h', 'NODE', '@c2'], QUESTIONS.why, { at: '@c2' }],
  [['log', 'h', '--node', 'NODE'], QUESTIONS.events, {}, 'events'],
  [['log', 'h'], QUESTIONS.events, { node: undefined, limit: 1_000 }, 'events'],
  [['list', 'h'], QUESTIONS.saved, {}, 'saved'],
  [['pool', 'messages', 'sea'], QUESTIONS.poolMessages, { history: 'sea' }, 'messages'],
  [['select', 'h', '.cb'], QUESTIONS.select, { selector: '.cb' }, 'ids'],
  [['bisect', 'h', '--good', '@c1', '--bad', '@c3', '--when', '#NODE'], QUESTIONS.bisect, {}],
  [['blame', 'h'], QUESTIONS.blame, { node: undefined }],
  [['compare', 'h', '@c1', '@c2'], QUESTIONS.compare, {}],
];

test.each(VALUES.map(([line, ...rest]) => [line.join(' '), line, ...rest] as const))(
  'the command line prints what the question answers: %s',
  async (_title, line, question, of, part) => {
    const input = { ...inputOf(question, of), ...of };
    for (const [name, value] of Object.entries(input)) if (value === undefined) delete input[name];
    const words = line.map((word) => word.replace('NODE', String(values['node'])));
    const { code, stdout } = await runStemma([...words, '--json', '--home', directory]);
    expect(code).toBe(0);
    const answer = JSON.parse(await asked(question, input)) as Record<string, unknown>;
    expect(JSON.parse(stdout)).toEqual(part === undefined ? answer : answer[part]);
  },
);

test.each([
  ['resume', 'held-1'],
  ['abort', 'held-2'],
])('a released call is printed as the answer lists it: %s', async (command, attempt) => {
  const { code, stdout } = await runStemma([
    ...[command, attempt, '--actor', 'ada', '--json', '--home', directory],
  ]);
  expect(code).toBe(0);
  const { calls } = await openAnswers(home).ask(QUESTIONS.heldOf, { history: 'h' });
  const call = calls.find(({ attempt_id }) => attempt_id === attempt);
  expect(call?.released?.by).toBe('ada');
  expect(JSON.parse(stdout)).toEqual({ calls: [call] });
});
