import type { Home } from '@stemma/home';
import { programFile } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../src/run-cli.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The entry of the command line. */
export const MAIN = programFile('stemma');

export type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Around = {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Of the terminal at stdout; there is none unless said. */
  readonly columns?: number;
  /** A home that is open already: the command uses it and does not close it. */
  readonly home?: Home | undefined;
};

/** Runs a command line in this process and gives what it printed and how it ended. */
export const runStemma = async (
  args: readonly string[],
  { input = '', env = {}, columns, home }: Around = {},
): Promise<Run> => {
  const [stdout, stderr] = [collector(), collector()];
  if (columns !== undefined) Object.assign(stdout.stream, { isTTY: true, columns });
  const code = await runCli(args, {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { STEMMA_ACTOR: 'tester', ...env },
    signal: new AbortController().signal,
    ...(home && { openHome: async () => ({ ...home, close: async () => undefined }) }),
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
};

const collector = (): { readonly stream: Writable; readonly text: () => string } => {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
};

/** Runs the command line as a person would, in a process of its own. */
export const spawnStemma = (args: readonly string[], { input = '', env = {} }: Around = {}): Promise<Run> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, STEMMA_ACTOR: 'tester', ...env },
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
    child.stdin.on('error', () => undefined); // a command that does not read may end first
    child.stdin.end(input);
  });

/** Runs a command with `--json` that must succeed, and gives its document. */
export const stemmaJson = async (args: readonly string[], input = ''): Promise<unknown> => {
  const { code, stdout, stderr } = await runStemma([...args, '--json'], { input });
  if (code !== 0) throw new Error(`stemma ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
};

/** A folder that is gone when `using` ends. */
export const temporaryFolder = (): Disposable & { readonly path: string } => {
  const path = mkdtempSync(join(tmpdir(), 'stemma-cli-'));
  return {
    path,
    [Symbol.dispose]: () => {
      rmSync(path, { recursive: true, force: true });
    },
  };
};
