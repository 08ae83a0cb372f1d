import {
  RerunDetails,
  type EndedRerunCounts,
  type FirstDifference,
  type GitCommit,
  type HistoryEvent,
  type ProgramEnd,
} from '@stemma/events';
import { interventionIn, isRerun } from '@stemma/history';
import { fail } from '@stemma/errors';
import type { Projection } from '@stemma/projector';
import {
  authorOf,
  findFrameSummary,
  findRecordedRun,
  historiesOfRun,
  listReruns,
  listRunsIn,
  type RecordedRunRow,
  type RerunRow,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import { eventAt } from './event-at.ts';

/** Which program ran, where, and how it ended. Times are milliseconds since 1970. */
export type RecordedProgram = {
  /** The history that says so. */
  readonly history: string;
  readonly seq: number;
  readonly command: readonly string[];
  readonly directory: string;
  readonly commit: GitCommit | null;
  /** The names of the variables that the recorder set or changed. */
  readonly variables: readonly string[];
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: ProgramEnd;
  /** True: secrets were taken out of the command or the directory, so it cannot run as it did. */
  readonly isRedacted: boolean;
};

/** A run of a program whose calls are recorded. */
export type ProgramRun = {
  readonly run: string;
  /** Its calls in the history that was asked for. */
  readonly calls: number;
  /** Milliseconds since 1970: when it was started; when its first call was recorded, if nothing says that. */
  readonly at: number;
  /** Null: nobody recorded what was run. It was killed, or no recorder started it. */
  readonly program: RecordedProgram | null;
};

/** What came of running an agent again. Times are milliseconds since 1970. */
export type RecordedRerun = {
  readonly history: string;
  readonly branchId: number;
  readonly seq: number;
  readonly rerun: string;
  /** The run that answered; null: calls that were recorded under none. */
  readonly of: string | null;
  readonly actor: string;
  readonly notes: string;
  readonly command: readonly string[];
  readonly directory: string;
  readonly commit: GitCommit | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: ProgramEnd;
  /** The exit code of the rerun. */
  readonly exit: number;
  readonly counts: EndedRerunCounts;
  readonly bindings: readonly { readonly kind: string; readonly count: number }[];
  readonly difference: FirstDifference | null;
  /** The arm of an experiment that it is a run of; null: of none. */
  readonly arm: string | null;
  /** The command that checked what it left behind, and how that ended; null: none did. */
  readonly check: { readonly command: string; readonly end: ProgramEnd } | null;
  /** The branches with its calls that went to providers. */
  readonly forks: readonly { readonly history: string; readonly branchId: number }[];
  /** What a page shows of it besides; null: it was recorded before reruns had it. */
  readonly details: RerunDetails | null;
};

/** The runs and the reruns of a history, each from the first to the newest. */
export type RunsOfHistory = {
  readonly runs: readonly ProgramRun[];
  readonly reruns: readonly RecordedRerun[];
  /** All of them; of many, the newest ones are listed. */
  readonly total: { readonly runs: number; readonly reruns: number };
};

/** The programs that were run, and run again. */
export type ProgramRuns = {
  /** The runs with calls in a history, also those that another one says more of, and the reruns of them. */
  runs(history: string, limit?: number): Promise<RunsOfHistory>;
  /** Which program was run; undefined: nobody recorded it. */
  run(run: string): Promise<RecordedProgram | undefined>;
};

const MOST = 100;

export const openProgramRuns = (projection: Projection): ProgramRuns => {
  const eventsOf = (history: string, seq: number): Promise<readonly HistoryEvent[]> =>
    projection.payloads.events(history, seq);
  const programOf = async (row: RecordedRunRow): Promise<RecordedProgram> => {
    const { history, location, startedAt, endedAt, end, isRedacted } = row;
    const event = eventAt(await eventsOf(history, location.seq), location, 'RunRecorded');
    const { directory, commit, variables } = event;
    const command = commandOf(event.payload);
    const known = { history, seq: location.seq, startedAt, endedAt, end, isRedacted };
    return { ...known, command, directory, commit, variables };
  };
  const rerunOf = async (row: RerunRow): Promise<RecordedRerun> => {
    const { branchId, location, ...known } = row;
    const { history } = row;
    const { seq } = location;
    const events = await eventsOf(history, seq);
    const event = eventAt(events, location, 'RerunEnded');
    const author = await projection.read((rows) => authorOf(findFrameSummary(rows, history, seq)));
    const { directory, commit, bindings, difference, arm = null, checkEnd, forks = [] } = event;
    const check = event.payload['data_check'];
    const notes = interventionIn({ history, seq, branchId, author, events })?.notes ?? '';
    return {
      ...known,
      ...{ branchId, seq },
      actor: 'actor' in author ? author.actor : author.recorder,
      ...{ notes, directory, commit, bindings, difference, arm, forks },
      check:
        checkEnd === undefined ? null : { command: typeof check === 'string' ? check : '', end: checkEnd },
      command: commandOf(event.payload),
      details: detailsIn(event.payload),
    };
  };
  return {
    runs: async (history, limit = MOST) => {
      await projection.catchUp();
      const found = await projection.read((rows) => runsIn(rows, history));
      const shown = <T>(all: readonly T[]): readonly T[] => all.slice(Math.max(0, all.length - limit));
      const runs: ProgramRun[] = [];
      for (const { row, ...run } of shown(found.runs))
        runs.push({ ...run, program: row === undefined ? null : await programOf(row) });
      const reruns: RecordedRerun[] = [];
      for (const row of shown(found.reruns)) reruns.push(await rerunOf(row));
      return { runs, reruns, total: { runs: found.runs.length, reruns: found.reruns.length } };
    },
    run: async (run) => {
      await projection.catchUp();
      const row = await projection.read((rows) => recordedRun(rows, run));
      return row && programOf(row);
    },
  };
};

/** Which program was run, in whichever history that is recorded. */
const recordedRun = (rows: RowReader, run: string): RecordedRunRow | undefined => {
  for (const history of historiesOfRun(rows, run)) {
    const found = findRecordedRun(rows, history, run);
    if (found !== undefined) return found;
  }
  return undefined;
};

type RunRow = Omit<ProgramRun, 'program'> & { readonly row: RecordedRunRow | undefined };

/** In the order in which they began, and ended. */
const runsIn = (
  rows: RowReader,
  history: string,
): { readonly runs: readonly RunRow[]; readonly reruns: readonly RerunRow[] } => {
  const runs: RunRow[] = [];
  const histories = new Set([history]);
  for (const { run, calls, firstSeq } of listRunsIn(rows, history)) {
    if (isRerun(run)) continue;
    for (const each of historiesOfRun(rows, run)) histories.add(each);
    const row = recordedRun(rows, run);
    const first = firstSeq === null ? 0 : millisecondsOf(findFrameSummary(rows, history, firstSeq).at);
    runs.push({ run, calls, at: row?.startedAt ?? first, row });
  }
  const known = new Set(runs.map(({ run }) => run));
  const reruns = [...histories]
    .flatMap((each) => listReruns(rows, each))
    .filter((rerun) => rerun.history === history || (rerun.of !== null && known.has(rerun.of)));
  return {
    runs: runs.sort((a, b) => a.at - b.at || (a.run < b.run ? -1 : 1)),
    reruns: reruns.sort((a, b) => a.endedAt - b.endedAt || (a.rerun < b.rerun ? -1 : 1)),
  };
};

/** The words of a command. */
const commandOf = (payload: { readonly [name: string]: unknown }): readonly string[] => {
  const words = payload['data_command'];
  return Array.isArray(words) ? words.map(String) : [];
};

const detailsIn = (payload: { readonly [name: string]: unknown }): RerunDetails | null => {
  const report = payload['data_report'];
  if (report === undefined) return null;
  const read = RerunDetails.safeParse(report);
  if (read.success) return read.data;
  throw fail('E_ROWS_DAMAGED', 'the report of a rerun is not of the shape in which reruns record it');
};
