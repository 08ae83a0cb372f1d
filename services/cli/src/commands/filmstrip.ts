import { QUESTIONS, type AnswerOf, type FilmCellAnswer } from '@stemma/api';
import { defined } from '@stemma/values';
import { answersOf } from '../answers.ts';
import type { TopCommand } from '../command.ts';
import { HISTORY, whole } from '../options.ts';
import { table } from '../output.ts';

const { query } = QUESTIONS.filmstrip;
const described = (name: keyof typeof query.shape): string => query.shape[name].description ?? '';

export const filmstrip: TopCommand = {
  name: 'filmstrip',
  summary:
    'list every call of a history: what it was shown, what came and left, what it decided, what failed, who intervened',
  group: 'Look',
  place: 11,
  example: 'stemma filmstrip mine',
  arguments: [HISTORY],
  options: [
    ['--branch <n>', described('branch')],
    ['--after <n>', described('after')],
    ['--limit <count>', described('limit')],
  ],
  run: async ({ findBranch, output }, [name], options) => {
    const { home, branchRef } = await findBranch(name);
    const asked = {
      branch: whole(options, 'branch', { least: 0 }),
      after: whole(options, 'after', { least: 0 }),
      limit: whole(options, 'limit', { least: 1 }),
    };
    const found = await (
      await answersOf(home)
    ).ask(QUESTIONS.filmstrip, { history: branchRef.branch, ...defined(asked) });
    const { next } = found;
    if (next !== null) output.say(`there are more: --branch ${next.branch} --after ${next.after}`);
    await output.result(found, () => filmText(found, output.width));
    return undefined;
  },
};

const filmText = ({ cells }: AnswerOf<typeof QUESTIONS.filmstrip>, width: number): string => {
  if (cells.length === 0) return 'no calls\n';
  // Columns in which no row has anything are left out.
  const columns = COLUMNS.filter(([, cellOf]) => cells.some((cell) => cellOf(cell) !== ''));
  return table(
    columns.map(([title]) => title),
    cells.map((cell) => columns.map(([, cellOf]) => cellOf(cell))),
    width,
  );
};

const changeText = (sign: string, change: FilmCellAnswer['came']): string =>
  change === null || change.messages === 0 ? '' : `${sign}${change.messages}`;

const COLUMNS: readonly (readonly [title: string, cellOf: (cell: FilmCellAnswer) => string])[] = [
  ['CALL', ({ cycle }) => `@c${cycle}`],
  ['BRANCH', ({ branchId }) => (branchId === 0 ? '' : String(branchId))],
  ['MESSAGES', ({ messages }) => String(messages)],
  ['TOKENS', ({ tokens }) => String(tokens)],
  ['CAME', ({ came }) => changeText('+', came)],
  ['LEFT', ({ left, compacted }) => `${changeText('-', left)}${compacted ? ' compacted' : ''}`.trim()],
  [
    'CALLED',
    ({ call }) =>
      call === null
        ? ''
        : `${call.status ?? 'unknown'}${call.attempts > 1 ? ` at attempt ${call.attempts}` : ''}`,
  ],
  ['DECIDED', ({ decided }) => decidedText(decided)],
  [
    'INTERVENED',
    ({ interventions }) => interventions.map(({ type, actor }) => `${type} by ${actor}`).join('; '),
  ],
];

/** `answer` for a text, else the tools that were called; of one whose result is not there or failed, that. */
const decidedText = (decided: FilmCellAnswer['decided']): string => {
  if (decided === null) return '';
  const tools = decided.tools.map(({ name, state }) => `${name || '?'}${STATES[state]}`);
  return [...(decided.said > 0 ? ['answer'] : []), ...tools].join(', ');
};

const STATES = { called: ' (no result)', answered: '', failed: ' FAILED' } as const;
