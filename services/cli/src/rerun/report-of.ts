import type { Author } from '@stemma/events';
import type { Home } from '@stemma/home';
import type { AgentEnds, RerunReport, RerunSummary } from '@stemma/rerun';
import type { FoundMessage, ReadRun } from '@stemma/reruns';

/** Where the messages are recorded in which calls differ. */
export type DifferingLocations = (label: string, message: number) => FoundMessage | undefined;

/** A report, and what its text is made of. */
export type ReportedRerun = {
  readonly report: RerunReport;
  readonly ends: AgentEnds;
  readonly locations: DifferingLocations;
};

/** What a report says besides what came of the calls. `of`: what ran again. */
export type ReportSources = Omit<ReportedRerun, 'report'> & { readonly rerun: string; readonly of: string };

export const reportOf = async (
  summary: RerunSummary,
  { rerun, of, ends, locations }: ReportSources,
): Promise<ReportedRerun> => {
  const { rerunReport } = await import('@stemma/rerun');
  const report = rerunReport(summary, {
    ...{ rerun, of, ends },
    locationOf: (label, message) => locations(label, message) ?? null,
  });
  return { report, ends, locations };
};

export const locationsOf = async (
  home: Home,
  run: ReadRun,
  { calls }: RerunSummary,
): Promise<DifferingLocations> => {
  const { findMessage } = await import('@stemma/reruns');
  const locations = new Map<string, FoundMessage>();
  for (const { label, difference } of calls) {
    if (difference === null || difference.message === null || difference.a === null) continue;
    const found = await findMessage(home, run, label, difference.message);
    if (found !== undefined) locations.set(keyOf(label, difference.message), found);
  }
  return (label, message) => locations.get(keyOf(label, message));
};

const keyOf = (label: string, message: number): string => `${message} ${label}`;

/** Who recorded a message, in words; null: not known. */
export const recordedBy = (found: FoundMessage | undefined): string | null => {
  if (found === undefined) return null;
  const { node, by, at, author } = found;
  return `${by} (${node}), ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z, ${nameOf(author)}`;
};

const nameOf = (author: Author): string => ('actor' in author ? author.actor : author.recorder);
