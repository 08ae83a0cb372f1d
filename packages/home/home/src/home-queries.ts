import {
  followLog,
  openAudit,
  openCauses,
  openFilmstrip,
  openOverview,
  openPools,
  openQuestions,
  openRequestedRuns,
  openStages,
  type Audit,
  type Causes,
  type Filmstrip,
  type Overview,
  type PoolQuestions,
  type Questions,
  type RequestedRuns,
  type StagesQuestions,
} from '@stemma/queries';
import { openSearch, type Search } from '@stemma/search';
import type { TreeSources } from './home-reading.ts';
import type { HomeServices } from './home-services.ts';

/** What is asked of rows beyond trees and events: each a package or folder of its own. */
export type HomeQueries = {
  /** Questions about what was sent: who made it, what a cache could have kept, where something began. */
  readonly questions: Questions;
  /** What an auditor asks: comparisons, interventions and what they led to. */
  readonly audit: Audit;
  /** Finds texts in all histories. */
  readonly search: Pick<Search, 'find' | 'historiesWith'>;
  /** Pools in figures, and the vectors of their messages. */
  readonly pools: PoolQuestions;
  /** The runs of pools that somebody asked a runner for. */
  readonly runs: RequestedRuns;
  /** The compiler stages of histories, at any position. */
  readonly stages: StagesQuestions;
  readonly causes: Causes;
  /** Every call of a history in numbers and names. */
  readonly filmstrip: Filmstrip;
  /** Histories in numbers. */
  readonly overview: Overview;
};

export const openQueries = (
  { log, projection, keyring, prices, beside, directory }: HomeServices,
  sources: TreeSources,
  find: Parameters<typeof openQuestions>[0]['find'],
  say: (sentence: string) => void,
): HomeQueries & { readonly search: Search } => ({
  questions: openQuestions({
    ...sources,
    find,
    follow: (options) => followLog(log, projection, options),
  }),
  audit: openAudit(projection),
  search: openSearch(log, projection, beside ?? directory, () => keyring.erased().length, say),
  pools: openPools(projection),
  runs: openRequestedRuns(projection),
  stages: openStages(projection),
  causes: openCauses(projection),
  filmstrip: openFilmstrip(projection),
  overview: openOverview(projection, prices),
});
