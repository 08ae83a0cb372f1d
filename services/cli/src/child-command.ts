import { compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { ProgramEnd } from '@stemma/events';
import { PROVIDER_NAMES, PROVIDERS, upstreamVariableOf } from '@stemma/model-apis/providers';
import { defined } from '@stemma/values';
import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** Variables of an environment. */
type Env = Readonly<Record<string, string | undefined>>;

/**
 * The upstreams as the variables that name them: those of Stemma's own variables, else where the command would have called. A
 * provider that neither names has its own address.
 */
export const upstreamVariables = (env: Env): Env =>
  Object.fromEntries(
    PROVIDER_NAMES.map((provider) => {
      const own = upstreamVariableOf(provider);
      const named = firstOf(env, PROVIDERS[provider].variables);
      const address = provider === 'ollama' ? named && ollamaAddress(named) : named;
      return [own, firstOf(env, [own]) ?? address];
    }),
  );

const firstOf = (env: Env, names: readonly string[]): string | undefined =>
  names.map((name) => env[name]).find((value) => value !== undefined && value !== '');

/** The port of Ollama's server where its variable names a host alone. */
const OLLAMA_PORT = 11_434;

/** What `OLLAMA_HOST` says as an address: `gpu1` is `http://gpu1:11434`, and a server on all addresses is called on this machine's own. */
const ollamaAddress = (host: string): string => {
  const url = URL.parse(
    host.includes('://') ? host : `http://${host.startsWith(':') ? '127.0.0.1' : ''}${host}`,
  );
  if (url === null) return host;
  if (url.port === '' && !host.includes('://')) url.port = String(OLLAMA_PORT);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return url.href.replace(/\/$/, '');
};

/**
 * The environment of a command whose calls go through a proxy: the variables of every provider that has an address name it.
 *
 * @param url the address of the proxy, with the place of the calls
 */
export const childEnv = (env: Env, url: string): NodeJS.ProcessEnv => {
  const child: NodeJS.ProcessEnv = { ...env };
  for (const name of SECRETS_OF_LOG) delete child[name];
  const upstreams = upstreamVariables(env);
  for (const provider of PROVIDER_NAMES) {
    const { address, variables } = PROVIDERS[provider];
    if (address === null && upstreams[upstreamVariableOf(provider)] === undefined) continue;
    for (const name of variables) child[name] = `${url}/${provider}`;
  }
  // Claude Code sends less of itself to an address that it does not know.
  if (upstreams[upstreamVariableOf('anthropic')] === undefined) child[FIRST_PARTY] ??= '1';
  // A proxy of the network has no way to this machine's own addresses.
  for (const name of ['NO_PROXY', 'no_proxy'])
    child[name] = [env[name] ?? '', '127.0.0.1', 'localhost'].filter((each) => each !== '').join(',');
  return child;
};

/** What Stemma itself logs in with: a command that writes to the log on its own is given the files that hold them. */
const SECRETS_OF_LOG = ['STEMMA_KAFKA_PASSWORD', 'STEMMA_KAFKA_KEY_PASSPHRASE'] as const;

/** Tells Claude Code that the address it is given leads to Anthropic's own host, so that it sends there what it sends without us. */
const FIRST_PARTY = '_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL';

/** The addresses that an environment tells a command to call: of `OLLAMA_HOST`, `OPENAI_BASE_URL`, and whatever ends like that. */
export const namedAddresses = (env: Env): readonly string[] => {
  const known: ReadonlySet<string> = new Set(PROVIDER_NAMES.flatMap((name) => PROVIDERS[name].variables));
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (value === '' || !(known.has(name) || name.endsWith('_BASE_URL'))) return [];
    return [name === 'OLLAMA_HOST' ? ollamaAddress(value) : value];
  });
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
 * Where the output of a program goes: where this process's own goes, all of it to standard error, or to an open file. With a file, and
 * with `apart`, which is standard error too, the program has no input: this process's own may be another program's words.
 */
export type ChildOutput = 'own' | 'stderr' | 'apart' | { readonly file: number };

/** How a program runs. `directory`: by default this process's own. `isShell`: it is words for a shell. */
type ChildOptions = {
  readonly output?: ChildOutput;
  readonly directory?: string;
  readonly isShell?: boolean;
  /** Hears the id of its process, when it has begun. */
  readonly began?: (pid: number) => void;
};

const stdioFor = (output: ChildOutput): StdioOptions => {
  if (output === 'own') return 'inherit';
  if (output === 'apart') return ['ignore', process.stderr, process.stderr];
  return output === 'stderr' ? ['inherit', 2, 'inherit'] : ['ignore', output.file, output.file];
};

/** Runs a program, with this process's own input and output unless it is told otherwise. */
export const runChild = async (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  { output = 'own', directory, isShell = false, began }: ChildOptions = {},
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
  if (child.pid !== undefined) began?.(child.pid);
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
