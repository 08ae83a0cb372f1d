import { isStemmaError } from '@stemma/errors';
import { programFile } from '@stemma/test-kit';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const { execPath, env: environment } = process;
/** Of what a test waits for; no test is decided by it. */
const DEADLINE = Number(process.env['STEMMA_TEST_DEADLINE'] ?? 300);

/** A process of a test. */
export type Process = {
  readonly name: string;
  /** What it said on both outputs. */
  readonly said: () => string;
  /** Is told everything that it says from now on, on its standard output. */
  readonly listen: (take: (data: string) => void) => void;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly ended: () => boolean;
  /** How it ended; null if it has not, or by a signal. */
  readonly code: () => number | null;
  /** Ends it and resolves when it is gone. */
  readonly end: (signal?: NodeJS.Signals) => Promise<void>;
};

/** Processes that are killed when `using` ends, whatever happened. */
export type Processes = AsyncDisposable & {
  readonly node: (name: string, args: readonly string[], env: Readonly<Record<string, string>>) => Process;
  /** What each said last, for a test that failed. */
  readonly last: () => string;
};

export const openProcesses = (): Processes => {
  const children = new Set<ChildProcess>();
  const started: Process[] = [];
  return {
    last: () =>
      started
        .map(({ name, ended, said }) => `${name}${ended() ? ' (ended)' : ''}: ${said().slice(-1000)}`)
        .join('\n'),
    node: (name, args, env) => {
      const child = spawn(execPath, args, {
        env: { ...environment, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      children.add(child);
      let said = '';
      const take = (data: Buffer): void => {
        said = (said + data.toString()).slice(-20_000);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
      const process: Process = {
        name,
        said: () => said,
        listen: (take) => void child.stdout.on('data', (data: Buffer) => take(data.toString())),
        ended,
        code: () => child.exitCode,
        signal: (signal) => void child.kill(signal),
        end: async (signal = 'SIGKILL') => {
          if (ended()) return;
          const gone = once(child, 'exit');
          child.kill('SIGCONT');
          child.kill(signal);
          await gone;
        },
      };
      started.push(process);
      return process;
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
    },
  };
};

/** Where a whole system is: the same for each of its processes. */
export type Place = { readonly log: string; readonly rows: string; readonly home: string };

export const environmentOf = ({ log, rows, home }: Place): Readonly<Record<string, string>> => ({
  STEMMA_LOG: log,
  STEMMA_ROWS: rows,
  STEMMA_HOME: home,
  STEMMA_ACTOR: 'tester',
});

export const startProjector = (processes: Processes, place: Place): Process =>
  processes.node('projector', [programFile('projector')], environmentOf(place));

/** Resolves when the condition holds; what can be tried again counts as not yet. @throws Error when it does not in time */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = DEADLINE,
): Promise<void> => {
  let last: unknown = '';
  for (const end = Date.now() + seconds * 1000; ;) {
    try {
      // What never answers is no answer either.
      if (await inTime(what, Promise.resolve(holds()), 2 * seconds)) return;
    } catch (error) {
      if (!passes(error)) throw error;
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}: ${String(last)}`);
    await sleep(20);
  }
};

/** What a promise gives. @throws an Error that names what was waited for, after so many seconds */
export const inTime = async <T>(what: string, promise: Promise<T>, seconds: number): Promise<T> => {
  const over = new AbortController();
  const late = sleep(seconds * 1000, undefined, { signal: over.signal }).then((): never => {
    throw new Error(`${what} did not end in ${seconds} s`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
};

/** No answer came, or one that says that the same can be asked again. */
const passes = (error: unknown): boolean =>
  isStemmaError(error) && (error.row.retriable || error.code === 'E_IO');
