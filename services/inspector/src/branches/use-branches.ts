import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import { defined } from '@stemma/values';
import { useQuery, type Query } from '../asking/queries.ts';

type Branches = AnswerOf<Endpoints['branches']>;
type Interventions = AnswerOf<Endpoints['interventions']>;
export type ListedInterventionType = NonNullable<InputOf<Endpoints['interventions']>['type']>;

/** The branches of a history. */
export const useBranches = (history: string): Query<Branches> =>
  useQuery(`now/h/${history}/branches`, (client) => client.branches({ history }));

/** The most that one request returns. */
export const MAX_INTERVENTIONS = 1_000;
export const INTERVENTIONS_PAGE = 50;

/** Which interventions are listed; null: all. Times as an input of a date and a time gives them, on the clock of the reader. */
export type InterventionsShown = {
  readonly type: ListedInterventionType | null;
  readonly actor: string | null;
  readonly on: string | null;
  readonly after: string | null;
  readonly before: string | null;
};

/** The filter as the server takes it; a time that is none is left out. */
export const filterOf = ({ type, actor, on, ...times }: InterventionsShown) => {
  const timeOf = (text: string | null): string | null => {
    const time = text === null ? NaN : Date.parse(text);
    return Number.isNaN(time) ? null : new Date(time).toISOString();
  };
  const [after, before] = [timeOf(times.after), timeOf(times.before)];
  return defined({
    type: type ?? undefined,
    actor: actor ?? undefined,
    branch: on ?? undefined,
    after: after ?? undefined,
    before: before ?? undefined,
  });
};

/** The newest interventions of a history. */
export const useInterventions = (
  history: string,
  shown: InterventionsShown,
  pages: number,
): Query<Interventions> => {
  const filter = filterOf(shown);
  const key = JSON.stringify(filter);
  return useQuery(
    `now/h/${history}/interventions/${pages}/${key}`,
    (client) =>
      client.interventions({
        history,
        order: 'newest',
        limit: Math.min(MAX_INTERVENTIONS, pages * INTERVENTIONS_PAGE),
        ...filter,
      }),
    `${history}/interventions/${key}`,
  );
};
