import type { AnswerOf, Endpoints } from '@stemma/api';
import { defined } from '@stemma/values';
import { useMemo, useState } from 'preact/hooks';
import { useQuery, type Query } from '../asking/queries.ts';
import type { Known, MapCorner } from './pool-filter.ts';

export type Pool = AnswerOf<Endpoints['poolRows']>;
export type PlacedMessages = AnswerOf<Endpoints['poolMap']>;
export type ShownFigures = AnswerOf<Endpoints['poolMetrics']>;
export type ShownSnapshot = ShownFigures['snapshots'][number];

/** So many neighbours are requested where a filter needs all that are similar. */
const MOST_NEAR = 100_000;

/** Figures of so many snapshots are asked for: each names its messages by attractor. */
export const MOST_SNAPSHOTS = 500;

/** A pool in figures at every snapshot up to a position. */
export const usePoolFigures = (history: string, reference: string | undefined): Query<ShownFigures> =>
  useQuery(
    `now/h/${history}/pool-metrics/${reference ?? ''}`,
    (client) =>
      client.poolMetrics({
        history,
        last: MOST_SNAPSHOTS,
        ...defined({ at: reference }),
      }),
    `pool-metrics/${history}`,
  );

export type PoolMap = {
  readonly map: Query<PlacedMessages>;
  /** The position whose map is requested. */
  readonly at: string;
  /** True if the map is that of the position shown. */
  readonly isCurrent: boolean;
  readonly drawAgain: () => void;
};

/** A map takes seconds to compute: it stays that of the position for which it was first requested, until it is drawn again. */
export const usePoolMap = (pool: Pool, reference: string | undefined, seed: number): PoolMap => {
  const branch = `${pool.history}:${pool.branch_id}`;
  const [placedAt, setPlacedAt] = useState({ branch, position: pool.position });
  const isOfAnother = placedAt.branch !== branch || reference !== undefined;
  const at = isOfAnother ? pool.position : placedAt.position;
  const map = useQuery(
    `old/h/${branch}/pool-map/${at}/${seed}`,
    (client) => client.poolMap({ history: branch, at, seed }),
    `pool-map/${branch}`,
  );
  const placed = map.state === 'done' ? map.value.position : at;
  return {
    map,
    at,
    isCurrent: placed === pool.position,
    drawAgain: () => setPlacedAt({ branch, position: pool.position }),
  };
};

/** The attractor in which each message was last. */
const clustersIn = (metrics: ShownFigures | undefined): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const { attractors } of metrics === undefined ? [] : [...metrics.snapshots, metrics.now])
    for (const { identity, members } of attractors ?? []) for (const id of members) found.set(id, identity);
  return found;
};

const pointsIn = (map: PlacedMessages | undefined): ReadonlyMap<string, MapCorner> =>
  new Map(map?.ids.map((id, i) => [id, [map.x[i] ?? 0, map.y[i] ?? 0] as const]));

/** What filters and colours need to know of the messages: their attractors, their points on the map, how similar they are to one. */
export const useKnown = (
  history: string,
  reference: string | undefined,
  near: string | null,
  map: Query<PlacedMessages>,
): Known => {
  const metrics = usePoolFigures(history, reference);
  const similar = useQuery(
    near === null ? 'none' : `now/h/${history}/pool-near/${reference ?? ''}/${near}`,
    (client) =>
      near === null
        ? new Promise<never>(() => undefined)
        : client.poolNear({ history, message: near, limit: MOST_NEAR, ...defined({ at: reference }) }),
  );
  const figures = metrics.state === 'done' ? metrics.value : undefined;
  const placed = map.state === 'done' ? map.value : undefined;
  const similarList = similar.state === 'done' ? similar.value.near : undefined;
  const clusters = useMemo(() => clustersIn(figures), [figures]);
  const points = useMemo(() => pointsIn(placed), [placed]);
  return useMemo((): Known => {
    const similarity = new Map(similarList?.map(({ id, similarity: value }) => [id, value]));
    return { clusters, points, similarity };
  }, [clusters, points, similarList]);
};
