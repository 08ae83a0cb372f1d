import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Run } from '../run-stemma.ts';

/** How a command ended: as commands do, or not at all. */
export type Ended = Run | { readonly died: string };

export type Asker = AsyncDisposable & {
  /** Runs a command line in a process that lives until one of its commands kills it or takes longer than the deadline. */
  readonly ask: (args: readonly string[]) => Promise<Ended>;
  /** From now on the home in this directory stays open between commands; null: none does. */
  readonly hold?: (directory: string | null) => Promise<void>;
};

type Child = { readonly process: ChildProcess; readonly lines: Interface };

/**
 * @param deadline of one command, in milliseconds
 * @param oneThread appends in the thread of the commands, which saves starting one for each home that is opened
 */
export const openAsker = (deadline: number, oneThread = false): Asker => {
  let child: Child | null = null;
  const start = async (): Promise<Child> => {
    const file = join(import.meta.dirname, '../children/answer-commands.ts');
    const started = spawn(process.execPath, [file, ...(oneThread ? ['--one-thread'] : [])], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    started.stdin.on('error', () => undefined); // it may die before it has read
    const lines = createInterface({ input: started.stdout });
    // The deadline is that of a command, not of a process that begins.
    await once(lines, 'line');
    return { process: started, lines };
  };
  const end = async (): Promise<void> => {
    const ending = child?.process;
    child = null;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    ending.kill('SIGKILL');
    await once(ending, 'exit');
  };
  const ask = async (line: readonly string[] | { readonly hold: string | null }): Promise<Ended> => {
    child ??= await start();
    const { process, lines } = child;
    const stop = new AbortController();
    const { signal } = stop;
    const exits = async (): Promise<Ended> => {
      const [code, by] = (await once(process, 'exit', { signal })) as [number | null, string | null];
      return { died: by ?? `exit ${code}` };
    };
    const answers = async (): Promise<Ended> => {
      const [line] = (await once(lines, 'line', { signal })) as [string];
      return JSON.parse(line) as Run;
    };
    const waits = new Promise<Ended>((resolve) => {
      const timer = setTimeout(() => resolve({ died: `no answer within ${deadline} ms` }), deadline);
      signal.addEventListener('abort', () => clearTimeout(timer));
    });
    process.stdin?.write(`${JSON.stringify(line)}\n`);
    const ends = [exits(), answers(), waits];
    const ended = await Promise.race(ends);
    stop.abort();
    await Promise.allSettled(ends.slice(0, 2));
    if ('died' in ended) await end();
    return ended;
  };
  return {
    ask,
    hold: async (directory) => {
      // A process that begins holds nothing.
      if (child !== null || directory !== null) await ask({ hold: directory });
    },
    [Symbol.asyncDispose]: end,
  };
};
