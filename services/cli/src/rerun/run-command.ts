import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import type { ObservedCall, RerunOptions, RerunSummary } from '@stemma/rerun';
import type { LiveOptions, ReadRun } from '@stemma/reruns';
import type { StdioOptions } from 'node:child_process';
import { childEnv, runChild, upstreamVariables, type EndedChild } from '../child-command.ts';
import { addressesOf, redactOf, type Context } from '../command.ts';

/** Milliseconds that live calls have to be recorded after the command has ended. */
const DRAIN = 30_000;

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
  readonly workingDirectory: string;
  readonly passesOthers: boolean;
};

/** How it went. `waiting`: entries of live calls that are not recorded yet. `observed`: the calls that stood for recorded ones. */
export type EndedRerun = EndedChild & {
  readonly observed: readonly ObservedCall[];
  readonly summary: RerunSummary;
  readonly waiting: number;
};

/** Runs a command whose calls are answered from a recording. With `--json` its standard output goes to standard error. */
export const runCommand = async (
  { directory, env, output, signal }: Context,
  { home, run, judged, live, id, command, workingDirectory, passesOthers }: CommandToRerun,
  options: Readonly<Record<string, unknown>>,
): Promise<EndedRerun> => {
  const [program = '', ...args] = command;
  const [{ serveHome, queryTimeoutOf, upstreamsOf }, { openRerun }, { serveRun }, { RERUN }] =
    await Promise.all([
      import('@stemma/gateway'),
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
  const server = await serveHome({
    home: { directory, create: false, ...addressesOf(env), ...redactOf(options, env) },
    port: 0,
    queryTimeout: queryTimeoutOf(env),
    upstreams: upstreamsOf(upstreamVariables(env)),
    rerun: { id, served },
    warn: output.say,
  });
  try {
    const child = childEnv(env, `${server.url}/proxy/rerun/${id}`);
    const stdio: StdioOptions = output.json ? ['inherit', 2, 'inherit'] : 'inherit';
    const ended = await runChild(program, args, child, signal, { stdio, directory: workingDirectory });
    const waiting = await server.drained(DRAIN);
    return { ...ended, summary: rerun.summary(), observed: rerun.observed(), waiting };
  } finally {
    await server.close();
  }
};

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
