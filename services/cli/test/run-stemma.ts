import { openHome, type Home, type HomeOptions } from '@stemma/home';
import { isLong, programFile } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../src/run-cli.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** The entry of the command line. */
export const MAIN = programFile('stemma');

export type Run = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Around = {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Of the terminal at stdout; there is none unless said. */
  readonly columns?: number;
};

/** The homes of one directory that stay open between commands, by what they were opened with. */
let kept: { readonly directory: string; readonly homes: Map<string, Promise<Home>> } | undefined;

/**
 * Called at the head of a test file: the home in this directory stays open from the first command to the end of the
 * file, since opening one takes longer than most commands do. In a long run each command opens its own, as it does for a user.
 */
export const keepHomeOpen = (directory: string): void => {
  if (isLong) return;
  beforeAll(() => holdHome(directory));
  afterAll(releaseHome);
};

/** From now on the home in this directory stays open between commands. */
export const holdHome = (directory: string): void => {
  kept = { directory, homes: new Map() };
};

/** Closes the home that stays open. */
export const releaseHome = async (): Promise<void> => {
  const homes = kept?.homes.values() ?? [];
  kept = undefined;
  for (const home of homes) await (await home).close();
};

/** Opens a home, or gives the one that stays open. */
export const openKept = async (options: HomeOptions): Promise<Home> => {
  if (kept === undefined || options.directory !== kept.directory) return openHome(options);
  const { homes } = kept;
  const key = JSON.stringify(options);
  const home = homes.get(key) ?? openHome(options);
  homes.set(key, home);
  home.catch(() => homes.delete(key));
  return { ...(await home), close: async () => undefined };
};

/** Runs a command line in this process and gives what it printed and how it ended. */
export const runStemma = async (
  args: readonly string[],
  { input = '', env = {}, columns }: Around = {},
): Promise<Run> => {
  const [stdout, stderr] = [collector(), collector()];
  if (columns !== undefined) Object.assign(stdout.stream, { isTTY: true, columns });
  const code = await runCli(args, {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { STEMMA_ACTOR: 'tester', ...env },
    signal: new AbortController().signal,
    openHome: openKept,
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
