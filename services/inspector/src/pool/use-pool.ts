import type { AnswerOf, Endpoints } from '@stemma/api';
import { defined } from '@stemma/values';
import type { Query } from '../asking/queries.ts';
import { useQuery } from '../asking/use-query.ts';

export type ShownFigures = AnswerOf<Endpoints['poolMetrics']>;
export type ShownSnapshot = ShownFigures['snapshots'][number];

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
