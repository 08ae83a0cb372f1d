import type { HistoryPage, HistorySummaryAnswer } from '@stemma/api';
import type { Home } from '@stemma/home';
import { damageSentences } from '@stemma/operations';
import type { HistorySummary } from '@stemma/queries';
import type { Previews } from './preview.ts';

/** A page of the histories, the one that changed last first. */
export const historyPage = async (
  home: Home,
  previews: Previews,
  { limit = 100, skip = 0 }: { readonly limit?: number | undefined; readonly skip?: number | undefined },
): Promise<HistoryPage> => {
  const all = await home.histories();
  const histories: HistorySummaryAnswer[] = [];
  for (const summary of all.slice(skip, skip + Math.min(limit, 500)))
    histories.push(await historyAnswer(summary, previews));
  return { total: all.length, histories, damage: [...damageSentences(await home.damage())] };
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
  frames: summary.frames,
  events: summary.events,
  cycles: summary.cycles,
  branches: summary.branches.map(({ branch, branchId, name, parent, at }) => ({
    branch,
    branchId,
    name,
    parent,
    at,
  })),
});
