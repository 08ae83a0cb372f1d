import { fail } from '@stemma/errors';
import type { CommandSpec } from '../command.ts';
import { texts } from '../mind-options.ts';
import { whole } from '../options.ts';
import { table, type Output } from '../output.ts';
import { askApart } from './ask-apart.ts';
import { chanceIn } from './chance.ts';
import type { CompareAnswer, FileBytes } from './questions.ts';
import { readFileBytes } from './read-files.ts';
import { figure, inWords, sayEmbedder, UNIT_OPTION, VECTOR_FILE } from './words.ts';

/** Pairs of runs take the square of their number. */
const MOST_RUNS = 50;

/** What --runs names. @param what they are: files @throws E_USAGE for one alone, or too many */
export const runsIn = (options: Readonly<Record<string, unknown>>, what: string): readonly string[] => {
  const names = texts(options, 'runs');
  if (names.length === 1 || names.length > MOST_RUNS)
    throw fail('E_USAGE', `--runs takes 2 to ${MOST_RUNS} ${what}, not ${names.length}`);
  return names;
};

export const compareFiles: CommandSpec = {
  name: 'compare',
  summary: 'test whether two samples of vectors or texts differ by more than chance',
  arguments: [
    ['<a>', VECTOR_FILE],
    ['<b>', 'the other sample'],
  ],
  options: [
    ['--seed <number>', 'the seed of the random numbers (default: 0)'],
    ['--permutations <number>', 'the random divisions that the samples are held against (default: 1999)'],
    ['--runs <files...>', 'repeated runs of one branch, each a sample: what chance alone does'],
    ['--min-cluster-size <rows>', 'the size of the smallest attractor (default: 3)'],
    UNIT_OPTION,
  ],
  run: async (context, [a, b], options) => {
    const { seed, permutations } = chanceIn(options);
    const minClusterSize = whole(options, 'minClusterSize', { least: 2 }) ?? 3;
    const runs: FileBytes[] = [];
    for (const name of runsIn(options, 'files')) runs.push(await readFileBytes(context, name));
    const answer = await askApart(
      {
        kind: 'compare',
        ...{ seed, permutations, minClusterSize, runs },
        a: await readFileBytes(context, a),
        b: await readFileBytes(context, b),
        unit: options['unit'] === true,
      },
      context.signal,
    );
    sayEmbedder(context, answer.embedder);
    await context.output.result(answer, () => describeComparison(answer, context.output));
    return undefined;
  },
};

type Row = {
  readonly name: string;
  readonly key: string;
  readonly value: number | null;
  readonly p: number | null;
};

const rowsOf = (answer: CompareAnswer): readonly Row[] => [
  { name: 'energy distance', key: 'energy', value: answer.energy, p: answer.p_energy },
  { name: 'MMD²', key: 'mmd2', value: answer.mmd2, p: answer.p_mmd },
  {
    name: 'wording (Jensen-Shannon distance)',
    key: 'jensen_shannon',
    value: answer.jensen_shannon,
    p: answer.p_jensen_shannon,
  },
  {
    name: 'vocabulary of A that persists in B',
    key: 'vocabulary_persistence',
    value: answer.vocabulary_persistence,
    p: answer.p_vocabulary_persistence,
  },
  {
    name: 'overlap of attractors',
    key: 'attractor_overlap',
    value: answer.attractors.overlap,
    p: answer.p_attractor_overlap,
  },
];

/** A comparison in words: a table of its tests, and what they say. */
export const describeComparison = (answer: CompareAnswer, { width }: Output): string => {
  const rows = rowsOf(answer).filter(({ value }) => value !== null);
  const holmOf = ({ key }: Row): number => answer.adjusted[key]?.holm ?? 1;
  const body = rows.map((row) => [row.name, figure(row.value ?? 0), figure(row.p ?? 1), figure(holmOf(row))]);
  const head = `A: ${inWords(answer.a.rows, 'vector')}, B: ${inWords(answer.b.rows, 'vector')}, of ${inWords(answer.dimension, 'number')}; ${inWords(answer.permutations, 'permutation')}, seed ${answer.seed}\n`;
  const sentences = [
    verdict(
      answer,
      rows.filter((row) => holmOf(row) <= 0.05),
    ),
    size(answer),
    floor(answer),
  ];
  return `${head}\n${table(['', 'value', 'p', 'p, Holm'], body, width)}\n${sentences.join('')}`;
};

const verdict = (answer: CompareAnswer, different: readonly Row[]): string => {
  const chance = `${figure((answer.p_energy ?? 1) * 100)} %`;
  if (different.length > 0)
    return `The samples differ by more than chance: ${different.map(({ name }) => name).join('; ')}.\nHolm's p allows for several tests being made: at 0.05, even one false alarm comes in at most 1 of 20 such comparisons.\n`;
  return `No difference is shown: divided at random, the same vectors are as far apart in ${chance} of cases.\nThis is no proof that there is none: with more vectors a smaller difference can be seen.\n`;
};

const size = ({
  energy_coefficient: value,
  energy_coefficient_interval: interval,
}: CompareAnswer): string => {
  const range = interval === null ? '' : ` (95 %: ${figure(interval[0])} to ${figure(interval[1])})`;
  return `Size: energy coefficient ${figure(value)}${range}; 0 for equal distributions, at most 1.\n`;
};

const floor = ({ noise_floor: found, energy }: CompareAnswer): string => {
  if (found === null) return '';
  const least = figure(found.distances[0] ?? 0);
  const most = found.distances.at(-1) ?? 0;
  return `Runs of one branch are ${least} to ${figure(most)} apart (energy distance, ${inWords(found.runs, 'run')}): ${energy > most ? 'A and B are further apart than any two of them' : 'A and B are no further apart than that'}.\n`;
};
