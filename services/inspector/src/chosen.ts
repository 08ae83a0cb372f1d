import type { HistorySummary, LineageSummary } from '@stemma/api';

/** True for the history that is meant by an id, a name, or one of its lineages. */
export const isChosen = (summary: HistorySummary, chosen: string | null): boolean =>
  lineageChosen(summary, chosen) !== undefined;

/**
 * The lineage of a history that is meant by `chosen`, as the server reads it: the history by its id or name (then the one
 * it goes on in), or either with the number or name of a lineage behind a colon.
 */
export const lineageChosen = (
  { history, name, lineages }: HistorySummary,
  chosen: string | null,
): LineageSummary | undefined => {
  if (chosen === null) return undefined;
  if (chosen === history || chosen === name) return lineages.find(({ lineage }) => lineage === history);
  const colon = chosen.lastIndexOf(':');
  const front = chosen.slice(0, colon);
  if (colon === -1 || (front !== history && front !== name)) return undefined;
  const behind = chosen.slice(colon + 1);
  return (
    lineages.find((one) => one.name === behind) ?? lineages.find(({ strand }) => String(strand) === behind)
  );
};
