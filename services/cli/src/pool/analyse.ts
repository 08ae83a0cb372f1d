import { fail } from '@stemma/errors';
import type { PoolMessage, PoolView } from '@stemma/pools';
import { askApart } from '../analyse/ask-apart.ts';
import { chanceIn } from '../analyse/chance.ts';
import { describeClusters } from '../analyse/cluster.ts';
import { describeComparison, runsIn } from '../analyse/compare.ts';
import type { FileBytes } from '../analyse/questions.ts';
import { sayEmbedder } from '../analyse/words.ts';
import type { CommandSpec } from '../command.ts';
import { required, whole } from '../options.ts';
import { POOL_ARGUMENTS, viewOf } from './messages.ts';

/** Messages in the form in which texts are analysed: with their rounds, if all have one. */
const linesOf = (name: string, messages: readonly PoolMessage[]): FileBytes => {
  const hasRounds = messages.every(({ round }) => round !== null);
  const lines = messages.map(({ text, round }) => JSON.stringify(hasRounds ? { text, round } : { text }));
  return { name, bytes: new TextEncoder().encode(`${lines.join('\n')}\n`) };
};

const MIN_CLUSTER_SIZE: readonly [syntax: string, description: string] = [
  '--min-cluster-size <count>',
  'the size of the smallest attractor (default: 3)',
];

export const poolAttractors: CommandSpec = {
  name: 'attractors',
  summary: 'find what the active messages of a pool gather around (HDBSCAN), and how diverse they are',
  arguments: POOL_ARGUMENTS,
  options: [MIN_CLUSTER_SIZE],
  run: async (context, [name, ref], options) => {
    const minClusterSize = whole(options, 'minClusterSize', { least: 2 }) ?? 3;
    const { messages, position } = await viewOf(context, required(name), ref as string | undefined);
    const active = messages.filter(({ isActive }) => isActive);
    if (active.length === 0) throw fail('E_POOL_TOO_SMALL', 'the pool is empty');
    const answer = await askApart(
      {
        kind: 'cluster',
        file: linesOf(position.branch, active),
        unit: true,
        minClusterSize,
        minSamples: undefined,
        allowSingleCluster: false,
      },
      context.signal,
    );
    sayEmbedder(context, answer.embedder);
    const ids = active.map(({ id }) => id);
    await context.output.result({ ...answer, ids }, () => describeClusters(answer, context.output));
    return undefined;
  },
};

/** What the minds of a pool added that another one has not: what was injected is no answer. */
const ownOf = ({ messages }: PoolView, other: PoolView): readonly PoolMessage[] => {
  const shared = new Set(other.messages.map(({ id }) => id));
  return messages.filter(({ id, intervention }) => intervention === null && !shared.has(id));
};

export const poolCompare: CommandSpec = {
  name: 'compare',
  summary: 'test whether two branches of a pool say different things since they parted, by more than chance',
  arguments: [
    ['<history>', 'a pool, by id or name'],
    ['<a>', 'a branch of it, by name or id'],
    ['<b>', 'the other branch'],
  ],
  options: [
    ['--runs <branches...>', 'branches that ran like A: how far apart they are is what chance alone does'],
    ['--seed <number>', 'the seed of the random numbers (default: 0)'],
    ['--permutations <number>', 'the random divisions that the branches are held against (default: 1999)'],
    MIN_CLUSTER_SIZE,
  ],
  run: async (context, [name, a, b], options) => {
    const { seed, permutations } = chanceIn(options);
    const minClusterSize = whole(options, 'minClusterSize', { least: 2 }) ?? 3;
    const named = runsIn(options, 'branches');
    const branch = (which: string): Promise<PoolView> =>
      viewOf(context, `${required(name)}:${which}`, undefined);
    const [left, right] = [await branch(required(a)), await branch(required(b))];
    const [ownLeft, ownRight] = [ownOf(left, right), ownOf(right, left)];
    if (ownLeft.length === 0 || ownRight.length === 0)
      throw fail(
        'E_POOL_TOO_SMALL',
        `${ownLeft.length === 0 ? required(a) : required(b)} has added no message since they parted`,
      );
    const runs: FileBytes[] = [];
    for (const which of named) runs.push(linesOf(which, ownOf(await branch(which), right)));
    const answer = await askApart(
      {
        kind: 'compare',
        a: linesOf(required(a), ownLeft),
        b: linesOf(required(b), ownRight),
        runs,
        unit: true,
        ...{ seed, permutations, minClusterSize },
      },
      context.signal,
    );
    sayEmbedder(context, answer.embedder);
    if (runs.length === 0)
      context.output.say(
        'messages of one run repeat each other, so p is too small: --runs names branches that ran like A, whose distances show what chance does',
      );
    await context.output.result(answer, () => describeComparison(answer, context.output));
    return undefined;
  },
};
