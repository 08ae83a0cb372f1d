import { isBundle } from '../bundle/in-bundle.ts';
import type { Context } from '../command.ts';
import { commandText } from '../program-runs.ts';
import { learnedLines, type LearnedMask } from './learn-masks.ts';
import type { OneRerun } from './one-rerun.ts';
import { writeReport } from './report-file.ts';
import { recordedBy } from './report-of.ts';

/** What is shown of a rerun. */
export type ShownRerun = OneRerun & {
  /** As the command named it. */
  readonly history: string;
  /** The run that answered; null: calls of no run. */
  readonly of: string | null;
  readonly command: readonly string[];
  /** The file for the report as a page; undefined: nobody wants one. */
  readonly file: string | undefined;
  /** What was learned; null: nothing was to be. */
  readonly learned: readonly LearnedMask[] | null;
  /** Entries of live calls that are not recorded yet. */
  readonly waiting: number;
};

/** Shows what came of a rerun. */
export const showRerun = async (
  { output }: Pick<Context, 'output'>,
  { summary, report, ends, locations, history, learned, waiting, ...ran }: ShownRerun,
): Promise<void> => {
  const { reportLines } = await import('@stemma/rerun');
  const known = (label: string, message: number): string | null => recordedBy(locations(label, message));
  const canGoLive = !isBundle(history);
  const forks = ran.forks.map(({ name }) => name);
  if (ran.file !== undefined)
    await writeReport(
      ran.file,
      {
        ...{ name: history, rerun: ran.id, of: ran.of, ends, summary, canGoLive, forks, recordedBy: known },
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
      return [
        ...lines,
        ...endLines(report.exit, ends),
        ...live,
        ...(learned === null ? [] : learnedLines(learned)),
      ]
        .map((line) => `${line}\n`)
        .join('');
    },
  );
  if (waiting > 0)
    output.say(`${waiting} entries of live calls wait: the next stemma record or up records them`);
};

/** Why a rerun in which no call differs has failed. */
const endLines = (exit: number, { recorded, now, check }: OneRerun['ends']): readonly string[] => [
  ...(check === null ? [] : [`the check ended with ${check}`]),
  ...(exit === 1 && recorded !== now
    ? [`the command ended with ${now}, and when it was recorded with ${recorded}`]
    : []),
];

/** A learned mask in the document of `--json`; the message is numbered from 1. */
const learnedDocument = ({ mask, label, message, first, second, isRecorded }: LearnedMask): object => ({
  ...{ ...mask, call: label, message: message + 1, first, second, recorded: isRecorded },
});
