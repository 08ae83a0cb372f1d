import type { MeasuredDifference, RunVerdict, VerdictPart } from '@stemma/analysis';
import { fail } from '@stemma/errors';
import { askApart } from '../analyse/ask-apart.ts';
import { chanceIn } from '../analyse/chance.ts';
import { figure, inWords } from '../analyse/words.ts';
import type { Context, TopCommand } from '../command.ts';
import { required, text } from '../options.ts';
import { printable, table } from '../output.ts';
import { armNames, readArms } from '../verdict/read-arms.ts';

export const verdict: TopCommand = {
  name: 'verdict',
  summary: 'tell whether two branches, of a pool or an agent, decide differently or only tell it differently',
  group: 'Ask why',
  place: 13,
  example: 'stemma verdict sea a1 b1 --runs a2 a3 a4 --runs-b b2 b3 b4',
  arguments: [
    ['<history>', 'a history, by id or name'],
    ['<a>', 'a branch of it, by name or id'],
    ['<b>', 'the other branch'],
  ],
  options: [
    ['--runs <branches...>', 'branches that ran like A, with other seeds; 4 runs in each arm at least'],
    ['--runs-b <branches...>', 'branches that ran like B'],
    ['--unit <unit>', 'runs; or steps, if the steps of a run are independent of each other (default: runs)'],
    ['--permutations <number>', 'the random divisions that the arms are held against (default: 1999)'],
    ['--seed <number>', 'the seed of the random numbers (default: 0)'],
  ],
  run: async (context, [name, a, b], options) => {
    const chance = chanceIn(options);
    const unit = text(options, 'unit') ?? 'runs';
    if (unit !== 'runs' && unit !== 'steps') throw fail('E_USAGE', `--unit takes runs or steps, not ${unit}`);
    const arms = await readArms(context, required(name), armNames(required(a), required(b), options));
    const { recordedArms, verdictDocument } = await import('@stemma/experiments');
    const recorded = await recordedArms(await context.home(), arms);
    const question = {
      kind: 'verdict',
      a: recorded.a,
      b: recorded.b,
      options: { ...chance, unit },
    } as const;
    const found = await askApart(question, context.signal);
    await context.output.result({ of: recorded.kind, ...verdictDocument(found) }, () =>
      describe(found, recorded.kind, { a: required(a), b: required(b) }, context),
    );
    return undefined;
  },
};

type Names = { readonly a: string; readonly b: string };

const describe = (found: RunVerdict, kind: 'pool' | 'agent', names: Names, { output }: Context): string => {
  const { verdict: word, a, b, decisions, telling } = found;
  const steps = kind === 'pool' ? 'round' : 'call';
  const arm = (name: string, { runs, steps: count }: RunVerdict['a']): string =>
    `${printable(name)}: ${inWords(runs, 'run')}, ${inWords(count, steps)}`;
  const rows = [
    ...decisions.differences.map((each) => ['decisions', ...cellsOf(each)]),
    ...telling.differences.map((each) => ['telling', ...cellsOf(each)]),
  ];
  return [
    `${word}\n\n`,
    `A is ${arm(names.a, a)}; B is ${arm(names.b, b)}; ${inWords(found.permutations, 'permutation')} of ${found.units}, seed ${found.seed}\n\n`,
    table(['', 'in what', 'effect', '95 %', 'p'], rows, output.width),
    `\nEffect: of decisions the share that differs; of telling the share of how texts about the same vary that the arm explains.\n`,
    partLine('Decisions', decisions, found),
    partLine('Telling', telling, found),
    reasonOf(found),
  ].join('');
};

const cellsOf = ({ name, effect, interval, p }: MeasuredDifference): string[] => [
  name,
  effect === null ? '-' : figure(effect),
  interval === null ? '-' : `${figure(interval.low)} to ${figure(interval.high)}`,
  p === null ? '-' : figure(p),
];

const partLine = (
  name: string,
  { p, isDifferent, size, power }: VerdictPart,
  { alpha, isJudged }: RunVerdict,
): string => {
  if (p === null) return `${name}: nothing that both arms have can be compared.\n`;
  const all = `p of all together ${figure(p)}`;
  if (!isJudged) return `${name}: ${all}.\n`;
  const seen = `a difference of ${figure(size)} would be seen in ${figure(100 * power)} % of such experiments`;
  return `${name}: ${isDifferent ? 'different' : 'no difference is shown'}; ${all}, at most ${figure(alpha / 2)} is called different; ${seen}.\n`;
};

/** Why nothing can be told, and what would be needed. */
const reasonOf = ({ verdict: word, isJudged, decisions, telling, units }: RunVerdict): string => {
  if (!isJudged)
    return `The arms have too few runs: what differs here may be what chance makes of one run. ${decisions.needed ?? 0} runs in each arm are needed at least: fork again with other seeds, and name them with --runs and --runs-b.\n`;
  if (word !== 'cannot tell') return '';
  const needed = [decisions, telling].map((part) => part.needed ?? Infinity);
  const most = Math.max(...needed);
  return Number.isFinite(most)
    ? `There is too little to tell: about ${inWords(most, units === 'runs' ? 'run' : 'piece')} in each arm would do.\n`
    : 'There is too little to tell: the arms need more runs, or longer ones.\n';
};
