import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import type { Query } from './queries.ts';
import { useQuery } from './use-query.ts';

type Branches = AnswerOf<Endpoints['branches']>;
type Interventions = AnswerOf<Endpoints['interventions']>;
export type ListedInterventionType = NonNullable<InputOf<Endpoints['interventions']>['type']>;

/** The branches of a history. */
export const useBranches = (history: string): Query<Branches> =>
  useQuery(`now/h/${history}/branches`, (client) => client.branches({ history }));

/** The most that one request returns. */
export const MAX_INTERVENTIONS = 1_000;
export const INTERVENTIONS_PAGE = 50;

/** The newest interventions of a history. */
export const useInterventions = (
  history: string,
  { type, actor }: { readonly type: ListedInterventionType | null; readonly actor: string | null },
  pages: number,
): Query<Interventions> =>
  useQuery(
    `now/h/${history}/interventions/${pages}/${type ?? ''}/${actor ?? ''}`,
    (client) =>
      client.interventions({
        history,
        order: 'newest',
        limit: Math.min(MAX_INTERVENTIONS, pages * INTERVENTIONS_PAGE),
        ...(type === null ? {} : { type }),
        ...(actor === null ? {} : { actor }),
      }),
    `${history}/interventions/${type ?? ''}/${actor ?? ''}`,
  );
