import type { ReportedCall, RerunReport } from '@stemma/rerun';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

/** How an agent runs once more. */
export type RerunSettings = {
  /** Further options of `stemma rerun`: `['--tools', 'recorded']`. */
  readonly options?: readonly string[];
  /** Where the command runs. Default: here. */
  readonly cwd?: string;
  /** Variables of the command. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The program `stemma`. Default: `STEMMA_PROGRAM`, else the one in `node_modules/.bin` of a folder above, else that of `PATH`. */
  readonly stemma?: string;
};

/** An agent does not do what was recorded. */
export class RerunError extends Error {
  override readonly name = 'RerunError';
  /** What `stemma rerun --json` says; null: it did not run. */
  readonly report: RerunReport | null;
  /** The exit code of `stemma rerun`: 5 a difference, 1 another end of the agent, 64 what cannot be served. */
  readonly exit: number | null;

  constructor(message: string, report: RerunReport | null, exit: number | null) {
    super(message);
    this.report = report;
    this.exit = exit;
  }
}

/**
 * Runs an agent once more, answered from a recorded run, without a provider or a key: `await rerun('run.stemma', ['python', 'agent.py'])` is a
 * whole test.
 *
 * @param run a file that `stemma bundle` wrote; or a history of the home that `STEMMA_HOME` names
 * @returns the report, where each call is the recorded one, and the agent ends as it did
 * @throws RerunError with the first difference
 */
export const rerun = async (
  run: string,
  command: readonly string[],
  { options = [], cwd = process.cwd(), env = process.env, stemma }: RerunSettings = {},
): Promise<RerunReport> => {
  const program = stemma ?? env['STEMMA_PROGRAM'] ?? programFrom(cwd);
  const { code, stdout, stderr } = await output(
    program,
    ['rerun', run, ...options, '--json', '--', ...command],
    {
      cwd,
      env,
    },
  );
  const report = reportIn(stdout);
  if (code === 0 && report !== null) return report;
  const shown = `stemma rerun ${run} -- ${command.join(' ')}`;
  throw new RerunError(
    report === null
      ? `${shown} ended with ${code}:\n${stderr.slice(-4_000)}`
      : `${sentencesOf(report, run)}\n  ${shown}      shows all of it`,
    report,
    code,
  );
};

const programFrom = (folder: string): string => {
  const here = resolve(folder);
  const found = join(here, 'node_modules/.bin/stemma');
  if (existsSync(found)) return found;
  const above = dirname(here);
  return above === here ? 'stemma' : programFrom(above);
};

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

const output = (
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ended> =>
  new Promise((settle, refuse) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const said: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (piece: Buffer) => said[name].push(piece));
    child.on('error', ({ message }) =>
      refuse(
        new RerunError(
          `there is no program ${program} (${message}): install the package stemma, or say where it is in STEMMA_PROGRAM; PATH has ${(options.env['PATH'] ?? '').split(delimiter).length} folders`,
          null,
          null,
        ),
      ),
    );
    child.on('close', (code) =>
      settle({
        code,
        stdout: Buffer.concat(said.stdout).toString(),
        stderr: Buffer.concat(said.stderr).toString(),
      }),
    );
  });

const reportIn = (text: string): RerunReport | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'calls' in value ? (value as RerunReport) : null;
  } catch {
    return null;
  }
};

const sentencesOf = ({ calls, exit }: RerunReport, run: string): string => {
  const first = calls.find(({ how }) => how !== 'same' && how !== 'bound' && how !== 'other order');
  if (first === undefined) return `the agent ends otherwise than in ${run}: exit ${exit}`;
  return [`the agent parts from ${run} at ${first.label}: ${whatOf(first)}`, ...bothOf(first)].join('\n');
};

const whatOf = ({ how, difference }: ReportedCall): string => {
  if (difference === null) return how;
  const { cause, message } = difference;
  return message === null ? cause : `${cause} (message ${message})`;
};

const bothOf = ({ difference }: ReportedCall): readonly string[] =>
  difference === null ? [] : [`  recorded: ${textOf(difference.a)}`, `  now:      ${textOf(difference.b)}`];

const MOST = 1_000;

const textOf = (text: string | null): string => {
  if (text === null) return 'nothing';
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
};
