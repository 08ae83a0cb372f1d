import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { verifyLog, openWriter, type EventLog, type LogReport, type Writer } from '@stemma/log';
import { NO_CONTENTS, openNoteRows, type Note } from '@stemma/log/contract';

/** Directories that {@link removeDirectories} takes away. */
const made: string[] = [];
export const makeDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-log-'));
  made.push(directory);
  return directory;
};
export const removeDirectories = (): void => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
};

export const noteWriter = async (log: EventLog): Promise<Writer<Note>> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  return openWriter(log, {
    domain: rows.domain,
    contents: NO_CONTENTS,
    random: Math.random,
    now: () => performance.now(),
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    tries: 1000,
  });
};

export const report = (log: EventLog): Promise<LogReport> => verifyLog(log, { contents: NO_CONTENTS });

/** Every note of the log, by history. */
export const notesOf = async (
  log: EventLog,
  histories: readonly string[],
): Promise<Record<string, readonly string[]>> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  return Object.fromEntries(histories.map((history) => [history, rows.notes(history)]));
};

export type Child = {
  readonly process: ChildProcess;
  /** Whole lines of its standard output so far. */
  readonly lines: () => readonly string[];
  readonly errors: () => string;
  /** Resolves when it has said so many lines, or ended. */
  readonly said: (count: number) => Promise<void>;
  readonly ended: Promise<number | null>;
};

/** Runs a script of `children/`; `shell` goes before it in a shell that then becomes it. */
export const runChild = (script: string, args: readonly string[], shell?: string): Child => {
  const path = join(import.meta.dirname, 'children', script);
  const command = [process.execPath, path, ...args];
  const child =
    shell === undefined
      ? spawn(process.execPath, [path, ...args])
      : spawn('bash', ['-c', `${shell}; exec "$@"`, 'bash', ...command]);
  let output = '';
  let errors = '';
  const wakes = new Set<() => void>();
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    for (const wake of wakes) wake();
  });
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  const lines = (): readonly string[] => output.split('\n').slice(0, -1);
  const ended = once(child, 'close').then(([code]: unknown[]) => code as number | null);
  const said = async (count: number): Promise<void> => {
    await Promise.race([
      ended,
      new Promise<void>((resolve) => {
        const wake = (): void => {
          if (lines().length >= count) resolve();
        };
        wakes.add(wake);
        wake();
      }),
    ]);
  };
  return { process: child, lines, errors: () => errors, said, ended };
};

/** The keys of the records behind the one with the log's id; null for one that is damaged. */
export const keysOf = async (log: EventLog): Promise<(string | null)[]> => {
  const keys: (string | null)[] = [];
  for (let at = 0; ;) {
    const { records, next } = await log.read(0, at);
    if (records.length === 0) return keys.slice(1);
    keys.push(...records.map(({ key, damaged }) => (damaged ? null : key)));
    at = next;
  }
};
