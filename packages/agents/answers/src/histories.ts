import type { Endpoints, HistoryPage, HistorySummaryAnswer, InputOf } from '@stemma/api';
import type { Home } from '@stemma/home';
import { damageSentences } from '@stemma/operations';
import type { HistorySummary } from '@stemma/queries';
import { defined } from '@stemma/values';
import type { Previews } from './preview.ts';

/** A page of the histories, the one that changed last first. */
export const historyPage = async (
  home: Home,
  previews: Previews,
  { limit = 100, skip = 0, name, since }: InputOf<Endpoints['histories']>,
): Promise<HistoryPage> => {
  const { total, histories: found } = await home.read.listHistories({
    skip,
    limit: Math.min(limit, 500),
    ...defined({ name, since }),
  });
  const histories: HistorySummaryAnswer[] = [];
  for (const summary of found) histories.push(await historyAnswer(summary, previews));
  return { total, histories, damage: [...damageSentences(await home.operations.damage())] };
};

export const historyAnswer = async (
  summary: HistorySummary,
  previews: Previews,
): Promise<HistorySummaryAnswer> => ({
  history: summary.history,
  name: summary.name,
  state: summary.state,
  stopped: summary.stopped,
  preview: await previews(summary),
  startedAt: summary.startedAt,
  updatedAt: summary.updatedAt,
  source: summary.source === null ? null : { format: summary.source.format, sha256: summary.source.sha256 },
  import: summary.import && { ...summary.import },
  labels: Object.fromEntries(summary.labels.map(({ label, value }) => [label, value])),
  frames: summary.frames,
  events: summary.events,
  cycles: summary.cycles,
  branches: summary.branches.map(({ branch, branchId, name, parent, at, calledBy, mayContinue }) => ({
    branch,
    branchId,
    name,
    parent,
    at,
    calledBy: calledBy && { ...calledBy },
    mayContinue: mayContinue && { ...mayContinue },
  })),
});
