import { attempt } from './attempt.ts';
import { attemptCame } from './attempt-came.ts';
import { attemptRequest } from './attempt-request.ts';
import { attemptResponse } from './attempt-response.ts';
import { attempts } from './attempts.ts';
import { bisect } from './bisect.ts';
import { blame } from './blame.ts';
import { branches } from './branches.ts';
import { breakpoints } from './breakpoints.ts';
import { cache } from './cache.ts';
import { calls } from './calls.ts';
import { checkpoint } from './checkpoint.ts';
import { compare } from './compare.ts';
import { comparePage } from './compare-page.ts';
import { config } from './config.ts';
import { ctrees } from './ctrees.ts';
import { ctreesEvents } from './ctrees-events.ts';
import { ctreesTree } from './ctrees-tree.ts';
import { decisions } from './decisions.ts';
import { diff } from './diff.ts';
import { doctor } from './doctor.ts';
import { events } from './events.ts';
import { experiment } from './experiment.ts';
import { exported } from './export.ts';
import { file } from './file.ts';
import { files } from './files.ts';
import { filmstrip } from './filmstrip.ts';
import { held } from './held.ts';
import { heldOf } from './held-of.ts';
import { histories } from './histories.ts';
import { history } from './history.ts';
import { impact } from './impact.ts';
import { intervention } from './intervention.ts';
import { interventions } from './interventions.ts';
import { node } from './node.ts';
import { observations } from './observations.ts';
import { overview } from './overview.ts';
import { pool } from './pool.ts';
import { poolMap } from './pool-map.ts';
import { poolMessages } from './pool-messages.ts';
import { poolMetrics } from './pool-metrics.ts';
import { poolNear } from './pool-near.ts';
import { poolRows } from './pool-rows.ts';
import { poolRuns } from './pool-runs.ts';
import { range } from './range.ts';
import { report } from './report.ts';
import { runs } from './runs.ts';
import { saved } from './saved.ts';
import { search } from './search.ts';
import { select } from './select.ts';
import { sizes } from './sizes.ts';
import { snapshots } from './snapshots.ts';
import { stats } from './stats.ts';
import { thread } from './thread.ts';
import { tools } from './tools.ts';
import { tree } from './tree.ts';
import { verdict } from './verdict.ts';
import { verify } from './verify.ts';
import { why } from './why.ts';
import type { AnswerCatalogue } from '../answer.ts';

/** What answers each question of the contract. A new one is a file beside this one and a line here. */
export const ANSWERS: AnswerCatalogue = {
  histories,
  overview,
  history,
  snapshots,
  tree,
  node,
  thread,
  export: exported,
  select,
  diff,
  why,
  blame,
  cache,
  calls,
  runs,
  file,
  files,
  sizes,
  filmstrip,
  tools,
  bisect,
  attempts,
  attempt,
  attemptRequest,
  attemptCame,
  attemptResponse,
  search,
  breakpoints,
  held,
  heldOf,
  compare,
  decisions,
  comparePage,
  interventions,
  intervention,
  impact,
  experiment,
  branches,
  saved,
  config,
  observations,
  range,
  events,
  stats,
  doctor,
  checkpoint,
  verify,
  pool,
  poolMessages,
  poolRuns,
  poolMetrics,
  poolRows,
  poolMap,
  poolNear,
  verdict,
  report,
  ctrees,
  ctreesTree,
  ctreesEvents,
};
