import { fail } from '@stemma/errors';
import type { PoolMessage, PoolView } from '@stemma/pools';
import { askApart } from '../analyse/ask-apart.ts';
import { chanceIn } from '../analyse/chance.ts';
import { describeClusters } from '../analyse/cluster.ts';
import { describeComparison, runsIn } from '../analyse/compare.ts';
import type { FileBytes } from '../analyse/questions.ts';
import { inWords, sayEmbedder } from '../analyse/words.ts';
import type { CommandSpec, Context } from '../command.ts';
import { required, whole } from '../options.ts';
import { POOL_ARGUMENTS, viewOf } from './messages.ts';

/** Messages that are analysed, and by whose vectors. */
type Analysed = { readonly file: FileBytes; readonly ids: readonly string[]; readonly embedder: string };

/**
 * Messages in the form in which texts are analysed: with their rounds, if all have one, and with their recorded vectors, unless those are
 * the built-in embedder's, which computes the same again.
 */
const linesOf = async (
  context: Context,
  name: string,
  { position }: PoolView,
  messages: readonly PoolMessage[],
  by?: string,
): Promise<Analysed> => {
  const home = await context.home();
  const { embedderKind } = await import('@stemma/pools');
  const { embedder, messages: embedded } = await home.queries.pools.embedded(position, by);
  const vectors =
    embedderKind(embedder) === 'built-in'
      ? null
      : new Map(embedded.map(({ node, vector }) => [node, [...vector]] as const));
  const found = messages.filter(({ id }) => vectors === null || vectors.has(id));
  const hasRounds = found.every(({ round }) => round !== null);
  const lines = found.map(({ id, text, round }) =>
    JSON.stringify({ text, round: hasRounds ? round : undefined, vector: vectors?.get(id) }),
  );
  const missing = messages.length - found.length;
  if (missing > 0)
    context.output.say(
      `${inWords(missing, 'message')} of ${name} ${missing === 1 ? 'has' : 'have'} no vector by ${embedder}, and ${missing === 1 ? 'is' : 'are'} left out: \`stemma pool embed\` records it`,
    );
  if (found.length === 0 && messages.length > 0)
    throw fail(
      'E_VECTORS',
      `no message of ${name} has a vector by ${embedder}: \`stemma pool embed\` records them`,
    );
  return {
    file: { name, bytes: new TextEncoder().encode(`${lines.join('\n')}\n`) },
    ids: found.map(({ id }) => id),
    embedder,
  };
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
    const view = await viewOf(context, required(name), ref as string | undefined);
    const active = view.messages.filter(({ isActive }) => isActive);
    if (active.length === 0) throw fail('E_POOL_TOO_SMALL', 'the pool is empty');
    const { file, ids } = await linesOf(context, view.position.branch, view, active);
    const answer = await askApart(
      {
        kind: 'cluster',
        file,
        unit: true,
        minClusterSize,
        minSamples: undefined,
        allowSingleCluster: false,
      },
      context.signal,
    );
    sayEmbedder(context, answer.embedder);
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
    const { file: fileA, embedder } = await linesOf(context, required(a), left, ownLeft);
    const { file: fileB } = await linesOf(context, required(b), right, ownRight, embedder);
    const runs: FileBytes[] = [];
    for (const which of named) {
      const view = await branch(which);
      runs.push((await linesOf(context, which, view, ownOf(view, right), embedder)).file);
    }
    const answer = await askApart(
      {
        kind: 'compare',
        a: fileA,
        b: fileB,
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
