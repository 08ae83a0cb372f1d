import { compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { ProgramEnd } from '@stemma/events';
import { defined } from '@stemma/values';
import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** Variables of an environment. */
type Env = Readonly<Record<string, string | undefined>>;

/** What clients read the address of an API from. */
const VARIABLES = {
  openai: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
  anthropic: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE'],
} as const;

/** The upstreams: those of Stemma's own variables, else where the command would have called. */
export const upstreamVariables = (env: Env): Env => ({
  STEMMA_UPSTREAM_OPENAI: firstOf(env, ['STEMMA_UPSTREAM_OPENAI', ...VARIABLES.openai]),
  STEMMA_UPSTREAM_ANTHROPIC: firstOf(env, ['STEMMA_UPSTREAM_ANTHROPIC', ...VARIABLES.anthropic]),
});

const firstOf = (env: Env, names: readonly string[]): string | undefined =>
  names.map((name) => env[name]).find((value) => value !== undefined && value !== '');

/** The environment of a command whose calls go through a proxy. @param url the address of the proxy, with the place of the calls */
export const childEnv = (env: Env, url: string): NodeJS.ProcessEnv => {
  const child: NodeJS.ProcessEnv = { ...env };
  for (const provider of ['openai', 'anthropic'] as const)
    for (const name of VARIABLES[provider]) child[name] = `${url}/${provider}`;
  // A proxy of the network has no way to this machine's own addresses.
  for (const name of ['NO_PROXY', 'no_proxy'])
    child[name] = [env[name] ?? '', '127.0.0.1', 'localhost'].filter((each) => each !== '').join(',');
  return child;
};

/** The names of the variables that a command gets otherwise than they were, by code point. */
export const changedVariables = (env: Env, child: NodeJS.ProcessEnv): readonly string[] =>
  Object.keys(child)
    .filter((name) => child[name] !== env[name])
    .sort(compareCodePoints);

/** How a program ended, as a shell says it: 128 and more for the signal that ended it. */
export const exitCodeOf = ({ exitCode, signal }: ProgramEnd): number =>
  exitCode ?? 128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);

/** A program that has run. Times are milliseconds since 1970. */
export type EndedChild = {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: ProgramEnd;
};

/**
 * Where the output of a program goes: where this process's own goes, all of it to standard error, or to an open file; then the program
 * has no input.
 */
export type ChildOutput = 'own' | 'stderr' | { readonly file: number };

/** How a program runs. `directory`: by default this process's own. `isShell`: it is words for a shell. */
type ChildOptions = {
  readonly output?: ChildOutput;
  readonly directory?: string;
  readonly isShell?: boolean;
};

const stdioFor = (output: ChildOutput): StdioOptions => {
  if (output === 'own') return 'inherit';
  return output === 'stderr' ? ['inherit', 2, 'inherit'] : ['ignore', output.file, output.file];
};

/** Runs a program, with this process's own input and output unless it is told otherwise. */
export const runChild = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  { output = 'own', directory, isShell = false }: ChildOptions = {},
): Promise<EndedChild> => {
  // Ctrl-C while the home was being opened: the command has not begun.
  signal.throwIfAborted();
  const startedAt = Date.now();
  const child = spawn(program, args, {
    env,
    stdio: stdioFor(output),
    shell: isShell,
    ...defined({ cwd: directory }),
  });
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
    // A clock that was set back is not a program that ended before it began.
    const endedAt = Math.max(startedAt, Date.now());
    return { startedAt, endedAt, end: { exitCode: code, signal: ended } };
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
