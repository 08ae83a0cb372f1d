import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import type { ObservedCall, RerunOptions, RerunSummary } from '@stemma/rerun';
import type { LiveOptions, ReadRun } from '@stemma/reruns';
import { childEnv, exitCodeOf, runChild, type ChildOutput, type EndedChild } from '../child-command.ts';
import { harnessOf, withAddress } from '../harnesses.ts';
import type { Context } from '../command.ts';
import type { RerunServer } from './rerun-server.ts';

/** What runs again, and what answers it. */
export type CommandToRerun = {
  readonly home: Home;
  readonly run: ReadRun;
  readonly judged: RerunOptions;
  /** What becomes of calls that the recording does not answer. */
  readonly live: Omit<LiveOptions, 'id' | 'now'>;
  /** The id of the rerun. */
  readonly id: string;
  readonly command: readonly string[];
  readonly directory: string;
  readonly passesOthers: boolean;
  /** What checks what the command left behind, as a shell reads it; null: nothing does. */
  readonly check: string | null;
  readonly output: ChildOutput;
};

/** How it went. `observed`: the calls that stood for recorded ones. `check`: how what checked it ended. */
export type EndedRerun = EndedChild & {
  readonly observed: readonly ObservedCall[];
  readonly summary: RerunSummary;
  readonly check: EndedChild | null;
};

/** Runs a command whose calls are answered from a recording, and then what checks what it left behind. */
export const runCommand = async (
  { env, signal }: Pick<Context, 'env' | 'signal'>,
  server: RerunServer,
  { home, run, judged, live, id, command, directory, passesOthers, check, output }: CommandToRerun,
): Promise<EndedRerun> => {
  const [{ openRerun }, { serveRun }, { RERUN }] = await Promise.all([
    import('@stemma/rerun'),
    import('@stemma/reruns'),
    import('@stemma/history'),
  ]);
  const rerun = openRerun(run.recording, judged);
  const now = (): bigint => BigInt(Date.now()) * 1_000_000n;
  const served = serveRun({
    ...{ home, run, rerun, passesOthers, now },
    live: { ...live, id: id.slice(RERUN.length), now },
    isLive: judged.onDifference === 'live',
  });
  const url = server.serve(id, served);
  const child = childEnv(env, url);
  const [program = '', ...args] = withAddress(command, harnessOf(command), `${url}/openai`);
  const ended = await runChild(program, args, child, signal, { output, directory });
  const checked =
    check === null
      ? null
      : await runChild(check, [], { ...env }, signal, { output, directory, isShell: true });
  return { ...ended, summary: rerun.summary(), observed: rerun.observed(), check: checked };
};

/** The exit code of what checked a rerun; null: nothing did. */
export const checkCodeOf = ({ check }: Pick<EndedRerun, 'check'>): number | null =>
  check === null ? null : exitCodeOf(check.end);

/** @throws E_RERUN_NOT_SERVED if calls would be met that nothing can answer, unless their provider is asked then */
export const refuseUnserved = async (run: ReadRun, judged: RerunOptions): Promise<readonly string[]> => {
  const [{ planRerun }, { listOf }] = await Promise.all([import('@stemma/rerun'), import('@stemma/reruns')]);
  const { refused, tools } = planRerun(run.recording, judged);
  if (refused.length === 0 || judged.onDifference === 'live') return tools;
  const because = refused.map(({ label, why }) => `${label} (${WHY[why]})`);
  throw fail('E_RERUN_NOT_SERVED', `nothing recorded answers ${listOf(because)}`, {
    calls: listOf(refused.map(({ label }) => label)),
  });
};

const WHY = {
  unknown: 'nobody recorded its end',
  'not kept': 'the bytes of its answer are not kept',
  redacted: 'its answer is not kept, as secrets were taken out',
} as const;
