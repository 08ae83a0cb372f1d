import type { AnswerOf, QUESTIONS } from '@stemma/api';
import { durationOf } from './call-cells.ts';
import { printable, table } from './output.ts';
import { shellQuoted } from './shell-quoted.ts';
import { time } from './time.ts';

type Runs = AnswerOf<typeof QUESTIONS.runs>;
type Program = NonNullable<Runs['runs'][number]['program']>;

/** The runs of a history as a table, and below it the reruns. */
export const runsText = ({ runs, reruns, total }: Runs, width: number): string => {
  const none = 'no runs are recorded: `stemma record -- COMMAND` records one\n';
  const listed = runs.length === 0 ? none : runTable(runs, width);
  const more =
    total.runs > runs.length ? `\nthe newest ${runs.length} of ${total.runs} runs: --limit shows more\n` : '';
  const again = reruns.length === 0 ? '' : `\n${rerunTable(reruns, width)}`;
  const moreAgain =
    total.reruns > reruns.length ? `\nthe newest ${reruns.length} of ${total.reruns} reruns\n` : '';
  return `${listed}${more}${again}${moreAgain}`;
};

const runTable = (runs: Runs['runs'], width: number): string =>
  table(
    ['RUN', 'STARTED', 'TOOK', 'EXIT', 'CALLS', 'COMMIT', 'COMMAND'],
    runs.map(({ run, at, calls, program }) => [
      run,
      time(at),
      program === null ? '-' : durationOf(program.endedAt - program.startedAt),
      program === null ? '-' : endText(program.end),
      String(calls),
      program === null ? '-' : commitText(program.commit),
      program === null ? 'nobody recorded which' : commandText(program.command),
    ]),
    width,
  );

const COUNTS = ['same', 'bound', 'differs', 'extra', 'missing', 'live'] as const;

const rerunTable = (reruns: Runs['reruns'], width: number): string =>
  table(
    ['RERUN', 'OF', 'STARTED', 'TOOK', 'EXIT', ...COUNTS.map((name) => name.toUpperCase()), 'BY', 'FIRST'],
    reruns.map(({ rerun, of, startedAt, endedAt, exit, counts, actor, difference }) => [
      rerun,
      of ?? '-',
      time(startedAt),
      durationOf(endedAt - startedAt),
      String(exit),
      ...COUNTS.map((name) => String(counts[name])),
      actor,
      difference === null ? '-' : `${difference.label} ${difference.cause}`,
    ]),
    width,
  );

/** How a program ended: `0`, or `SIGTERM`. */
const endText = ({ exitCode, signal }: Program['end']): string => signal ?? String(exitCode ?? '?');

const SHORT = 10;

/** The beginning of a commit's id, with a `+` behind it if files were changed. */
export const commitText = (commit: Program['commit']): string =>
  commit === null ? '-' : `${commit.id.slice(0, SHORT)}${commit.changed === true ? '+' : ''}`;

/** The words of a command as a shell takes them, without what a terminal would obey. */
export const commandText = (command: readonly string[]): string =>
  printable(command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word))).join(' '));
