import { isPlaceName } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:os';
import { addressesOf, redactOf, type TopCommand } from '../command.ts';
import { text } from '../options.ts';
import { titleOf } from '../titles.ts';

/** Milliseconds that calls have to be recorded after the command has ended; what is left then is recorded by the next command. */
const DRAIN = 30_000;

export const record: TopCommand = {
  name: 'record',
  summary: 'run a command and record every call that it makes to a model',
  group: 'Record and import',
  place: 1,
  example: 'stemma record -- python agent.py',
  arguments: [['<command...>', 'the command with its arguments, after --']],
  options: [
    [
      '--history <history>',
      'the history or branch that the calls belong to, started if there is none (default: new ones, found by what is said)',
    ],
    [
      '--steer',
      'let observers steer the calls: what they change is in what goes out, and breakpoints hold calls',
    ],
  ],
  run: async ({ directory, env, output, signal, home: open }, [command], options) => {
    const [program, ...args] = command as readonly string[];
    if (program === undefined || program === '') throw fail('E_USAGE', 'give a command after --');
    const history = text(options, 'history')?.normalize('NFC');
    if (history !== undefined && !isPlaceName(history))
      throw fail('E_USAGE', `${JSON.stringify(history.slice(0, 140))} names no history or branch`);
    const { queryTimeoutOf, serveHome, upstreamsOf } = await import('@stemma/gateway');
    const server = await serveHome({
      home: { directory, create: true, ...addressesOf(env), ...redactOf(options, env) },
      port: 0,
      queryTimeout: queryTimeoutOf(env),
      upstreams: upstreamsOf(upstreamVariables(env)),
      warn: output.say,
    });
    try {
      const run = randomBytes(8).toString('hex');
      const steered = options['steer'] === true ? 'steer/' : '';
      const place =
        steered + (history === undefined ? `run/${run}` : `history/${encodeURIComponent(history)}`);
      const exitCode = await runChild(program, args, childEnv(env, `${server.url}/proxy/${place}`), signal);
      const waiting = await server.drained(DRAIN);
      const counts = server.calls();
      const names = await namesOf(counts.histories, history, () => open({ create: true }));
      for (const sentence of sentencesOf(counts, waiting, names)) output.say(sentence);
      if (counts.branches.length > 1)
        for (const line of linesOf(
          counts.branches,
          new Map(counts.histories.map((id, i) => [id, names[i] ?? id])),
        ))
          output.say(line);
      if (output.json) await output.result({ exitCode, run, waiting, ...counts }, () => '');
      return exitCode;
    } finally {
      await server.close();
    }
  },
};

type Env = Readonly<Record<string, string | undefined>>;

/** What clients read the address of an API from. */
const VARIABLES = {
  openai: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
  anthropic: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE'],
} as const;

/** The upstreams: those of Stemma's own variables, else where the command would have called. */
const upstreamVariables = (env: Env): Env => ({
  STEMMA_UPSTREAM_OPENAI: firstOf(env, ['STEMMA_UPSTREAM_OPENAI', ...VARIABLES.openai]),
  STEMMA_UPSTREAM_ANTHROPIC: firstOf(env, ['STEMMA_UPSTREAM_ANTHROPIC', ...VARIABLES.anthropic]),
});

const firstOf = (env: Env, names: readonly string[]): string | undefined =>
  names.map((name) => env[name]).find((value) => value !== undefined && value !== '');

const childEnv = (env: Env, url: string): NodeJS.ProcessEnv => {
  const child: NodeJS.ProcessEnv = { ...env };
  for (const provider of ['openai', 'anthropic'] as const)
    for (const name of VARIABLES[provider]) child[name] = `${url}/${provider}`;
  // A proxy of the network has no way to this machine's own addresses.
  for (const name of ['NO_PROXY', 'no_proxy'])
    child[name] = [env[name] ?? '', '127.0.0.1', 'localhost'].filter((each) => each !== '').join(',');
  return child;
};

/** Runs a program with this process's own input and output. @returns its exit code; 128 and more: the signal that ended it */
const runChild = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> => {
  // Ctrl-C while the home was being opened: the command has not begun.
  signal.throwIfAborted();
  const child = spawn(program, args, { env, stdio: 'inherit' });
  // Ctrl-C reaches the command too, which decides what it does; whatever else ends this one, ends it.
  let isInterrupted = false;
  const interrupted = (): void => void (isInterrupted = true);
  process.prependListener('SIGINT', interrupted);
  const stop = (): void => {
    if (!isInterrupted) child.kill('SIGTERM');
  };
  signal.addEventListener('abort', stop);
  try {
    const [code, ended] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (ended === null ? 0 : constants.signals[ended]);
  } catch (error) {
    const known = error as NodeJS.ErrnoException;
    throw fail(
      'E_USAGE',
      `the command ${JSON.stringify(program)} cannot be run (${known.code ?? known.message})`,
    );
  } finally {
    signal.removeEventListener('abort', stop);
    process.removeListener('SIGINT', interrupted);
  }
};

/** What people call the histories. @param given the name that was given to the one history */
const namesOf = async (
  histories: readonly string[],
  given: string | undefined,
  open: () => Promise<Home>,
): Promise<readonly string[]> => {
  if (given !== undefined && histories.length === 1) return [given];
  if (histories.length === 0) return [];
  try {
    const home = await open();
    return await Promise.all(histories.map((history) => titleOf(home, history)));
  } catch {
    return histories; // the calls are recorded: their ids name them, too
  }
};

/** The branches that are named, of many. */
const MOST_BRANCHES = 20;

/** Each branch that calls were recorded on, and how to list them. @param names by the histories' ids */
const linesOf = (
  branches: readonly { readonly history: string; readonly branchId: number; readonly calls: number }[],
  names: ReadonlyMap<string, string>,
): readonly string[] => {
  const lines = branches.slice(0, MOST_BRANCHES).map(({ history, branchId, calls }) => {
    const name = names.get(history) ?? history;
    const place = branchId === 0 ? name : `${history}:${branchId}`;
    return `  ${calls} ${calls === 1 ? 'call' : 'calls'} in ${name}${branchId === 0 ? '' : `, branch ${branchId}`}: stemma calls ${place}`;
  });
  const left = branches.length - lines.length;
  return left === 0 ? lines : [...lines, `  and on ${left} more branches: stemma histories lists them`];
};

const sentencesOf = (
  {
    calls,
    dropped,
    refused,
    refusals,
    cancelled,
    failed,
    branches,
  }: {
    readonly branches: readonly unknown[];
    readonly calls: number;
    readonly cancelled: number;
    readonly failed: number;
    readonly dropped: number;
    readonly refused: number;
    readonly refusals: readonly { readonly reason: string; readonly calls: number }[];
  },
  waiting: number,
  names: readonly string[],
): string[] => {
  const [first] = names;
  const isListed = branches.length > 1;
  const where = names.length > 1 ? ` in ${names.length} histories` : names.length === 1 ? ` in ${first}` : '';
  const apart = [cancelled === 0 ? '' : `${cancelled} cancelled`, failed === 0 ? '' : `${failed} failed`];
  const ends = apart.every((part) => part === '')
    ? ''
    : ` (${apart.filter((part) => part !== '').join(', ')})`;
  const hint = first === undefined || isListed ? '' : `: stemma calls ${first}`;
  const sentences = [
    calls === 0
      ? 'no calls were recorded: the command made none through OPENAI_BASE_URL or ANTHROPIC_BASE_URL'
      : `recorded ${calls - dropped - refused} of ${calls} calls${ends}${where}${hint}`,
  ];
  if (waiting > 0)
    sentences.push(`${waiting} entries wait to be recorded: the next stemma record or up does it`);
  if (dropped > 0) sentences.push(`${dropped} calls were not recorded: too many waited`);
  for (const { reason, calls: count } of refusals)
    sentences.push(`not recorded, though sent and answered: ${count} of ${calls} calls, as ${reason}`);
  return sentences;
};
