import type { RetriedAnswer, RetriedCall, RetryEdit, SeenAnswer } from '@stemma/agent-loop';
import { attemptAnswer } from '@stemma/api';
import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { ERRORS, fail } from '@stemma/errors';
import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { TextDifference } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import { randomBytes } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from '../actor.ts';
import type { Context, TopCommand } from '../command.ts';
import { placeIn, SET_OPTION, settingsIn, texts } from '../mind-options.ts';
import { MAX_STDIN, readJsonInput, required, text, whole } from '../options.ts';
import { indented, oneLine, printable, table } from '../output.ts';

export const retry: TopCommand = {
  name: 'retry',
  summary:
    'ask a call again, changed or not, of one or several models; each answer is a fork, shown beside the first',
  group: 'Record and import',
  place: 5,
  example: 'stemma retry mine @c7 --set temperature=0 --times 5',
  arguments: [
    ['<history>', 'a history or branch, by id or name, with a position or not: talk, talk@c7'],
    ['[call]', 'the call: the position that it was made with (@c7), or the id of an attempt'],
  ],
  options: [
    [
      '--mind <mind...>',
      'whom to ask: as for `stemma continue`, several one after the other (default: who was asked)',
    ],
    ['--times <count>', 'how often to ask each (default: 1)'],
    SET_OPTION,
    [
      '--edit <file>',
      'JSON: a list of messages to send in place of those that were, or a list of steps that change what the position shows (docs/formats/steps.md); - reads stdin',
    ],
    ['--name <name>', 'what the names of the forks begin with (default: the position and the run)'],
    ['--parallel <count>', 'the most calls at a time (default: 4)'],
    ['--run <id>', 'the id of the run; one that was interrupted makes what is missing (default: a new id)'],
    ...ACTOR_OPTIONS,
  ],
  run: async (context, [given, which], options) => {
    const { output, env, signal } = context;
    const place = placeIn(required(given), which as string | undefined);
    const set = settingsIn(options);
    const times = whole(options, 'times', { least: 1, most: 1_000 });
    const parallel = whole(options, 'parallel', { least: 1, most: 100 });
    const name = text(options, 'name');
    const { home, branchRef } = await context.findBranch(place.name);
    const position = await positionOf(home, branchRef, place.at);
    const file = text(options, 'edit');
    const edit = file === undefined ? undefined : await editIn(context, file);
    const { retryCall } = await import('@stemma/agent-loop');
    const result = await retryCall(home, branchRef, position, {
      run: text(options, 'run') ?? randomBytes(6).toString('hex'),
      actor: await actorOf(context, options),
      notes: await notesOf(context, options),
      minds: texts(options, 'mind'),
      set,
      ...defined({ times, parallel, name, edit }),
      surroundings: { env },
      signal,
      say: output.say,
    });
    await output.result(documentOf(result), () => describe(result, output.width));
    const failed = result.answers.find(({ error }) => error !== null)?.error ?? null;
    return failed === null ? undefined : ERRORS[failed.code].exit;
  },
};

/** @throws E_USAGE if no call is named, E_CALL_NOT_FOUND */
const positionOf = async (home: Home, branchRef: BranchRef, which: string | undefined): Promise<Position> => {
  if (which === undefined) throw fail('E_USAGE', 'name the call: a position (@c7), or the id of an attempt');
  if (which.includes('@')) return home.position(branchRef, which);
  const { branchId, seq } = await home.calls.find(branchRef.history, which);
  return home.position(branchRefOf(branchRef.history, branchId), `@s${seq}`);
};

/** @throws E_INPUT_SHAPE and what is wrong with the JSON */
const editIn = async (context: Context, file: string): Promise<RetryEdit> => {
  const value = await readJsonInput(context, file, MAX_STDIN, file === '-' ? 'stdin' : file);
  const items = (Array.isArray(value) ? value : []) as readonly WideJsonObject[];
  if (items.length > 0 && items.every(isJsonObject)) {
    if (items.every((item) => typeof item['role'] === 'string')) return { messages: items };
    if (items.every((item) => typeof item['op'] === 'string'))
      return { steps: items as unknown as Extract<RetryEdit, { steps: unknown }>['steps'] };
  }
  throw fail(
    'E_INPUT_SHAPE',
    `${file} is neither a list of messages ({"role": …}) nor a list of steps ({"op": …}): docs/formats/steps.md has their shape`,
  );
};

const documentOf = ({ first, answers, ...rest }: RetriedCall): object => {
  const seen = ({ attempt, ...answer }: SeenAnswer): object => ({
    ...answer,
    attempt: attempt === null ? null : attemptAnswer(attempt),
  });
  return { ...rest, first: first === null ? null : seen(first), answers: answers.map(seen) };
};

const describe = ({ first, answers, sameTools, position }: RetriedCall, width: number): string => {
  const rows = [
    ...(first === null ? [] : [['first', position, ...cells(first), '', '']]),
    ...answers.map((answer) => [
      answer.mind,
      answer.name,
      ...cells(answer),
      sameOr(answer.isSameTools, answer.toolCalls.map(({ name }) => name).join(' ')),
      sameOr(answer.isSameText, 'differs'),
    ]),
  ];
  return [
    table(['ASKED', 'BRANCH', 'STATUS', 'TOKENS', 'COST', 'FINISH', 'TOOLS', 'TEXT'], rows),
    first === null ? 'no first answer is recorded\n' : `\nfirst\n${body(first.text, first, width)}`,
    ...answers.map((answer) => `\n${printable(answer.name)}\n${bodyOfAnswer(answer, width)}`),
    sameTools.of === 0
      ? ''
      : `\nthe same tools are called in ${sameTools.count} of ${sameTools.of} answers\n`,
  ].join('');
};

const sameOr = (isSame: boolean | null, other: string): string =>
  isSame === null ? '-' : isSame ? 'same' : other === '' ? 'none' : other;

const cells = ({ attempt }: SeenAnswer): string[] => [
  attempt?.status ?? '-',
  attempt?.usage == null ? '-' : `${attempt.usage.input ?? '?'} → ${attempt.usage.output ?? '?'}`,
  attempt?.cost == null ? '-' : `${attempt.cost.amount} ${attempt.cost.currency}`,
  attempt?.finishReason ?? '-',
];

const bodyOfAnswer = (answer: RetriedAnswer, width: number): string => {
  const { error, differences, isSameText, text: said } = answer;
  if (error !== null) return `  ${printable(error.message)} (${error.code})\n`;
  if (isSameText === true) return body(said === '' ? '' : '(the same text)', answer, width);
  return body(differences === null || !isAlike(differences) ? said : marked(differences), answer, width);
};

/** True if more stayed than went: what differs in most words is easier to read by itself. */
const isAlike = (differences: readonly TextDifference[]): boolean => {
  const sizeOf = (kind: TextDifference['kind']): number =>
    differences.reduce((sum, each) => sum + (each.kind === kind ? each.text.trim().length : 0), 0);
  return sizeOf('same') > sizeOf('removed');
};

const body = (said: string, { toolCalls }: SeenAnswer, width: number): string =>
  [
    said === '' ? '' : `  ${indented(said, 2)}\n`,
    ...toolCalls.map((call) => `  ${oneLine(`${call.name}(${call.arguments})`, Math.min(width, 160) - 2)}\n`),
  ].join('');

/** What went and what came, as wdiff marks it. */
const marked = (differences: readonly TextDifference[]): string =>
  differences
    .map(({ kind, text: part }) =>
      kind === 'same' ? part : kind === 'removed' ? `[-${part}-]` : `{+${part}+}`,
    )
    .join('');
