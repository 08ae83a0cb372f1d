import { exitCodeOf, type ChildOutput } from '../child-command.ts';
import type { Context } from '../command.ts';
import type { LiveSettings } from '@stemma/reruns';
import { locationsOf, reportOf, type ReportedRerun } from './report-of.ts';
import type { PreparedRerun } from './prepare-rerun.ts';
import { openForks, type RerunFork } from './rerun-forks.ts';
import { recordRerun } from './record-rerun.ts';
import type { RerunServer } from './rerun-server.ts';
import { copyWorkspace } from './workspace-copy.ts';
import { checkCodeOf, runCommand, type EndedRerun } from './run-command.ts';

/** One of the reruns of a run. */
export type AskedRun = {
  /** The id of the rerun. */
  readonly id: string;
  /** What its forks are named after. */
  readonly forkName: string;
  /** What its live calls ask with; null: as the agent does. */
  readonly settings: LiveSettings | null;
  readonly output: ChildOutput;
};

/** What came of one rerun. */
export type OneRerun = EndedRerun &
  ReportedRerun & {
    readonly id: string;
    /** The branches with the calls that went to their providers. */
    readonly forks: readonly RerunFork[];
  };

/** Runs the command once; its live calls are recorded in forks. */
export const runOnce = async (
  context: Pick<Context, 'env' | 'signal'>,
  server: RerunServer,
  prepared: PreparedRerun,
  { id, forkName, settings, output }: AskedRun,
): Promise<OneRerun> => {
  const { home, run, judged, by, whatIf, toStart, branchRef, passesOthers, check, name } = prepared;
  const { history } = branchRef;
  const forks = openForks(home, run, {
    history,
    named: historyPart(name),
    name: forkName,
    ...by,
    whatIf,
    settings,
  });
  const copy = prepared.workspace === null ? null : copyWorkspace(prepared.workspace, judged);
  const ran = await runCommand(context, server, {
    ...{ home, run, id, passesOthers, check, output },
    judged: copy?.judged ?? judged,
    live: { by, whatIf, settings, placeOf: forks.placeOf },
    command: toStart.words,
    directory: copy?.directory ?? toStart.directory,
  }).finally(() => copy?.forget());
  // Where nobody recorded how the first run ended, it ended as most do, without an error.
  const recordedEnd = toStart.program?.end;
  const ends = {
    recorded: recordedEnd === undefined ? 0 : exitCodeOf(recordedEnd),
    now: exitCodeOf(ran.end),
    check: checkCodeOf(ran),
  };
  const locations = await locationsOf(home, run, ran.summary);
  const reported = await reportOf(ran.summary, { rerun: id, of: run.run ?? name, ends, locations });
  return { ...ran, ...reported, id, forks: forks.all() };
};

/** Records what came of a rerun, or says why it is not. */
export const recordOnce = async (
  { output }: Pick<Context, 'output'>,
  { home, branchRef, run, by, commit, toStart, check, isKept }: PreparedRerun,
  { id, summary, report, startedAt, endedAt, end, forks, check: checked }: OneRerun,
  arm: string | null,
): Promise<void> => {
  if (!isKept) return;
  if (by.actor === '') {
    output.say('the rerun is not recorded: nobody says who ran it (--actor, STEMMA_ACTOR)');
    return;
  }
  await recordRerun(home, branchRef, output.say, {
    ...{ rerun: id, of: run.run, by, commit, summary, report, startedAt, endedAt, end, forks, arm },
    check: check === null || checked === null ? null : { command: check, end: checked.end },
    command: toStart.words,
    directory: toStart.directory,
  });
};

/** The history in the name of one or of a branch: `shop` of `shop:what-if`. */
const historyPart = (name: string): string => name.split(':', 1)[0] ?? name;
