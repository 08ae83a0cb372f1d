import {
  hdbscan,
  poolRun,
  unitVectors,
  vectorsFrom,
  type RecordedRound,
  type RecordedRun,
  type ShownMessage,
} from '@stemma/analysis';
import { toHex } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import type { EmbeddedMessage } from '@stemma/queries';
import type { ComparedBranch, OwnEvent } from './branch-events.ts';

/** Attractors are looked for in so many of the newest messages that all branches have. */
const MOST_SEARCHED = 2_000;

/** What the rounds of branches of a pool chose and said since the branches parted. @throws E_VECTORS for a message without a vector */
export const poolRuns = async (
  home: Pick<Home, 'position' | 'queries'>,
  branches: readonly ComparedBranch[],
  events: readonly (readonly OwnEvent[])[],
): Promise<readonly RecordedRun[]> => {
  let by: string | undefined;
  let clusters: ReadonlyMap<string, string> | undefined;
  const runs: RecordedRun[] = [];
  for (const [i, { branchRef, name }] of branches.entries()) {
    // All are compared by the vectors of one embedder, and by their directions.
    const { embedder, messages } = await home.queries.pools.embedded(await home.position(branchRef), by);
    by = embedder;
    const embedded = new Map(
      messages.map((message) => [message.node, { ...message, vector: directionOf(message.vector) }]),
    );
    const found = readRounds(events[i] ?? []);
    refuseMissing(found, embedded, { name, embedder });
    clusters ??= clustersOf([...found.shared].flatMap((id) => embedded.get(id) ?? []));
    const shown = new Map<string, ShownMessage>();
    for (const id of found.shared) {
      const message = embedded.get(id);
      if (message !== undefined)
        shown.set(id, { key: keyOf(message), vector: message.vector, cluster: clusters.get(id) ?? null });
    }
    for (const id of found.outside) {
      const message = embedded.get(id);
      if (message !== undefined)
        shown.set(id, {
          key: `from outside ${keyOf(message)}`,
          vector: message.vector,
          cluster: `from outside ${keyOf(message)}`,
        });
    }
    const rounds = found.rounds.map(({ sampled, added, stop }): RecordedRound => ({
      sampled,
      stop,
      added: added.flatMap(({ id, text }) => {
        const vector = embedded.get(id)?.vector;
        return vector === undefined ? [] : [{ id, text, vector }];
      }),
    }));
    runs.push(poolRun(name, rounds, shown));
  }
  return runs;
};

/** A message without a vector takes up nothing, and nothing takes it up: a verdict would be one about what lacks. */
const refuseMissing = (
  { shared, outside, rounds }: ReadRounds,
  embedded: ReadonlyMap<string, unknown>,
  { name, embedder }: { readonly name: string; readonly embedder: string },
): void => {
  const ids = [...shared, ...outside, ...rounds.flatMap(({ added }) => added.map(({ id }) => id))];
  const missing = ids.filter((id) => !embedded.has(id)).length;
  if (missing > 0)
    throw fail(
      'E_VECTORS',
      `${missing} of ${ids.length} messages of ${name} have no vector by ${embedder}: \`stemma pool embed\` records those that lack`,
    );
};

/** A vector that is longer or shorter than 1, divided by its length. */
const directionOf = (vector: Float32Array): Float32Array => {
  let square = 0;
  for (const value of vector) square += value * value;
  const length = Math.sqrt(square);
  return length === 0 || Math.abs(length - 1) < 1e-5 ? vector : vector.map((value) => value / length);
};

const keyOf = ({ contentHash }: EmbeddedMessage): string => toHex(contentHash).slice(0, 16);

type ReadRound = {
  sampled: readonly string[];
  readonly added: { readonly id: string; readonly text: string }[];
  stop: string | null;
  isOwn: boolean;
};

type ReadRounds = {
  readonly shared: ReadonlySet<string>;
  readonly outside: ReadonlySet<string>;
  readonly rounds: readonly ReadRound[];
};

const readRounds = (events: readonly OwnEvent[]): ReadRounds => {
  const [shared, outside] = [new Set<string>(), new Set<string>()];
  const rounds = new Map<number, ReadRound>();
  let current: ReadRound | undefined;
  for (const { event, isShared } of events) {
    if (event.type === 'CallFinished' && current !== undefined) current.stop = event.finishReason;
    if (event.type !== 'NodeInserted') continue;
    const { node } = event;
    const round = node['data_round'];
    if (node.kind === 'prompt' && typeof round === 'number' && Array.isArray(node['data_sampled_ids'])) {
      const sampled = node['data_sampled_ids'].filter((id) => typeof id === 'string');
      rounds.set(round, (current = { sampled, added: [], stop: null, isOwn: !isShared }));
    }
    if (node.kind !== 'text' || node.offset !== 0 || node.nodeType !== 'cb') continue;
    const { id } = node;
    if (isShared) shared.add(id);
    else if (typeof node['data_mind_id'] !== 'number' || node['data_mind_id'] < 0) outside.add(id);
    else if (typeof round === 'number') {
      const of = rounds.get(round);
      if (of === undefined) continue;
      of.isOwn = true;
      of.added.push({ id, text: typeof node['content'] === 'string' ? node['content'] : '' });
    }
  }
  return { shared, outside, rounds: [...rounds.values()].filter(({ isOwn }) => isOwn) };
};

/** The attractor of each message that is in one. */
const clustersOf = (messages: readonly EmbeddedMessage[]): ReadonlyMap<string, string> => {
  const newest = messages.slice(-MOST_SEARCHED);
  if (newest.length < 3) return new Map();
  const { labels } = hdbscan(unitVectors(vectorsFrom(newest.map(({ vector }) => vector))), {
    minClusterSize: 3,
  });
  return new Map(
    newest.flatMap(({ node }, row) =>
      (labels[row] ?? -1) < 0 ? [] : [[node, `attractor ${labels[row] ?? 0}`] as const],
    ),
  );
};
