import type { AnswerOf, QUESTIONS } from '@stemma/api';
import { defined } from '@stemma/values';
import { answersOf } from '../answers.ts';
import type { CommandSpec } from '../command.ts';
import { required, text, whole } from '../options.ts';
import { table } from '../output.ts';
import { POOL_ARGUMENTS } from './messages.ts';

type Snapshot = AnswerOf<typeof QUESTIONS.poolMetrics>['now'];

export const poolMetrics: CommandSpec = {
  name: 'metrics',
  summary: 'show the figures of a pool at every snapshot: messages, diversity, similarity, attractors',
  arguments: POOL_ARGUMENTS,
  options: [
    ['--branch <name>', 'the branch, by name or id (default: the one that the history names)'],
    ['--last <count>', 'only so many of the newest snapshots (default: all)'],
  ],
  run: async (context, [name, ref], options) => {
    const last = whole(options, 'last', { least: 1 });
    const branch = text(options, 'branch');
    const { home, branchRef } = await context.findBranch(
      branch === undefined ? required(name) : `${required(name)}:${branch}`,
    );
    const asked = { history: branchRef.branch, ...defined({ last, at: ref as string | undefined }) };
    const metrics = await (await answersOf(home)).byName.poolMetrics(asked);
    await context.output.result(metrics, () =>
      describe([...metrics.snapshots, metrics.now], context.output.width),
    );
    return undefined;
  },
};

const figure = (value: number | null): string => (value === null ? '-' : value.toFixed(3));

const describe = (snapshots: readonly Snapshot[], width: number): string =>
  table(
    ['ROUND', 'AT', 'MESSAGES', 'ADDED', 'TEXTS', 'DIVERSITY', 'SIMILARITY', 'FROM SEEDS', 'ATTRACTORS'],
    snapshots.map((snapshot, i) => [
      i === snapshots.length - 1 ? 'now' : String(snapshot.round),
      snapshot.position,
      String(snapshot.messages),
      String(snapshot.added),
      String(snapshot.texts),
      figure(snapshot.diversity),
      figure(snapshot.similarity),
      figure(snapshot.seed_distance),
      attractorsIn(snapshot),
    ]),
    width,
  );

/** Attractors by identity and size, the largest first: `3 (12), 0 (4)`. */
const attractorsIn = ({ attractors }: Snapshot): string => {
  if (attractors === null) return 'not searched';
  if (attractors.length === 0) return '-';
  return [...attractors]
    .sort((a, b) => b.size - a.size || a.identity - b.identity)
    .map(({ identity, size }) => `${identity} (${size})`)
    .join(', ');
};
