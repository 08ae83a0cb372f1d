import type { Author, ProgramEnd } from '@stemma/events';
import type { Home } from '@stemma/home';
import type { RerunOptions, RerunReport, RerunSummary } from '@stemma/rerun';
import type { FoundMessage, ReadRun } from '@stemma/reruns';
import { isBundle } from '../bundle/in-bundle.ts';
import { exitCodeOf } from '../child-command.ts';
import type { Context } from '../command.ts';
import { learnedLines, type LearnedMask } from './learn-masks.ts';
import { commandText } from '../program-runs.ts';
import { writeReport } from './report-file.ts';
import type { EndedRerun } from './run-command.ts';

/** What is shown of a rerun. */
export type ShownRerun = EndedRerun & {
  readonly home: Home;
  readonly run: ReadRun;
  readonly judged: RerunOptions;
  readonly id: string;
  /** The branches with the calls that went to their providers. */
  readonly forks: readonly string[];
  /** As the command named it. */
  readonly history: string;
  /** What was learned; null: nothing was to be. */
  readonly learned: readonly LearnedMask[] | null;
  readonly command: readonly string[];
  /** The file for the report as a page; undefined: nobody wants one. */
  readonly file: string | undefined;
  /** How the program ended when it was recorded; undefined: nobody recorded it. */
  readonly recordedEnd: ProgramEnd | undefined;
};

/** Shows what came of a rerun. @returns its report */
export const showRerun = async (
  { output }: Pick<Context, 'output'>,
  { home, run, summary, end, waiting, id, forks, history, recordedEnd, learned, ...ran }: ShownRerun,
): Promise<RerunReport> => {
  const { reportLines, rerunReport } = await import('@stemma/rerun');
  const places = await placesOf(home, run, summary);
  // Where nobody recorded how the first run ended, it ended as most do, without an error.
  const ends = { recorded: recordedEnd === undefined ? 0 : exitCodeOf(recordedEnd), now: exitCodeOf(end) };
  const report = rerunReport(summary, {
    ...{ rerun: id, of: run.run ?? history, ends },
    locationOf: (label, message) => places.get(keyOf(label, message)) ?? null,
  });
  const known = (label: string, message: number): string | null =>
    recordedBy(places.get(keyOf(label, message)));
  const canGoLive = !isBundle(history);
  if (ran.file !== undefined)
    await writeReport(
      ran.file,
      {
        ...{ name: history, rerun: id, of: run.run, ends, summary, canGoLive, forks, recordedBy: known },
        ...{ command: commandText(ran.command), startedAt: ran.startedAt, endedAt: ran.endedAt },
        learned: learned === null ? [] : learnedLines(learned),
      },
      output.say,
    );
  await output.result(
    learned === null ? report : { ...report, learned: learned.map(learnedDocument) },
    () => {
      const lines = reportLines(summary, {
        ...{ command: `stemma rerun ${history}`, canGoLive, ends, recordedBy: known },
      });
      const live = forks.map((fork) => `live calls are in ${fork}: stemma compare ${history} ${fork}`);
      const other =
        report.exit === 1
          ? [`the command ended with ${ends.now}, and when it was recorded with ${ends.recorded}`]
          : [];
      return [...lines, ...other, ...live, ...(learned === null ? [] : learnedLines(learned))]
        .map((line) => `${line}\n`)
        .join('');
    },
  );
  if (waiting > 0)
    output.say(`${waiting} entries of live calls wait: the next stemma record or up records them`);
  return report;
};

/** A learned mask in the document of `--json`; the message is numbered from 1. */
const learnedDocument = ({ mask, label, message, first, second, isRecorded }: LearnedMask): object => ({
  ...{ ...mask, call: label, message: message + 1, first, second, recorded: isRecorded },
});

const keyOf = (label: string, message: number): string => `${message} ${label}`;

/** Where the messages are recorded in which calls differ. */
const placesOf = async (
  home: Home,
  run: ReadRun,
  { calls }: RerunSummary,
): Promise<ReadonlyMap<string, FoundMessage>> => {
  const { findMessage } = await import('@stemma/reruns');
  const places = new Map<string, FoundMessage>();
  for (const { label, difference } of calls) {
    if (difference === null || difference.message === null || difference.a === null) continue;
    const found = await findMessage(home, run, label, difference.message);
    if (found !== undefined) places.set(keyOf(label, difference.message), found);
  }
  return places;
};

const recordedBy = (found: FoundMessage | undefined): string | null => {
  if (found === undefined) return null;
  const { node, by, at, author } = found;
  return `${by} (${node}), ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z, ${nameOf(author)}`;
};

const nameOf = (author: Author): string => ('actor' in author ? author.actor : author.recorder);
