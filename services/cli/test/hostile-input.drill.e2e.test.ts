import { sized } from '@stemma/test-kit';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { MAIN, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const at = (home: string): string[] => ['--home', join(folder.path, home)];

type End = {
  readonly code: number | null;
  readonly stderr: string;
  /** The most memory that it had, in MB, and milliseconds from the start, or from the signal if there was one. */
  readonly peak: number;
  readonly took: number;
};

/** Runs a command, sends it a signal when `when` says so, and watches its memory; it is killed at the deadline. */
const run = async (
  args: readonly string[],
  {
    shell = '',
    signal,
    when = () => true,
  }: { shell?: string; signal?: 'SIGINT' | 'SIGTERM'; when?: (peak: number, pid: number) => boolean } = {},
): Promise<End> => {
  const stdin = shell === '' ? null : spawn('sh', ['-c', shell], { stdio: ['ignore', 'pipe', 'ignore'] });
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, STEMMA_ACTOR: 'tester', TMPDIR: folder.path },
    stdio: [stdin?.stdout ?? 'ignore', 'ignore', 'pipe'],
  });
  stdin?.stdout.destroy();
  const chunks: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  let peak = 0;
  let from = performance.now();
  const watch = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
    if (signal === undefined || child.killed || !when(peak, child.pid ?? 0)) return;
    from = performance.now();
    child.kill(signal);
  }, 20);
  const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000);
  try {
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, stderr: Buffer.concat(chunks).toString(), peak, took: performance.now() - from };
  } finally {
    clearInterval(watch);
    clearTimeout(deadline);
    stdin?.kill('SIGKILL');
  }
};

const statusOf = (pid: number | undefined): string => {
  try {
    return readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  } catch {
    return '';
  }
};
const peakOf = (pid: number | undefined): number =>
  Number(/VmHWM:\s+(\d+)/.exec(statusOf(pid))?.[1] ?? 0) / 1024;
/** True once the process has opened the file. */
const hasOpened = (pid: number, file: string): boolean => {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === file);
  } catch {
    return false; // one of them is closed in between
  }
};

/** What a file begins with, the piece that follows over and over, and the code. The last ones are read for long. */
const BOMBS: [string, string, string, string][] = [
  ['numbers', '[', '1,', 'E_INPUT_TOO_LARGE'],
  ['objects', '[', '{},', 'E_INPUT_TOO_LARGE'],
  ['numbers over many lines', '[\n', '1,\n', 'E_INPUT_TOO_LARGE'],
  ['nothing', '', '\0', 'E_INPUT_NOT_JSON'],
  ['a text without an end', '["', 'abcdefgh', 'E_INPUT_TOO_LARGE'],
  ['white space', '', '        ', 'E_INPUT_TOO_LARGE'],
];

/** A file of a beginning and then a piece over and over. */
const bomb = (name: string, begin: string, piece: string, megabytes: number): string => {
  const path = join(folder.path, name);
  const block = Buffer.from(piece.repeat(Math.ceil((1 << 20) / Buffer.byteLength(piece))));
  const file = openSync(path, 'w');
  writeSync(file, begin);
  for (let i = 0; i < megabytes; i++) writeSync(file, block);
  closeSync(file);
  return path;
};

describe('hostile input', () => {
  beforeEach(({ skip }) => {
    if (process.platform !== 'linux') skip('there is no /proc to read the memory from');
  });

  test.each<[string, string, string, string]>(BOMBS.slice(0, sized(2, BOMBS.length)))(
    '300 MB of %s are refused by a process with 512 MB of memory',
    async (_what, begin, piece, code) => {
      const file = bomb('bomb.json', begin, piece, 300);
      const { code: exit, stderr, peak } = await run(['import', file, ...at('bombs')]);
      expect(stderr).toContain(code);
      expect(exit).toBe(1);
      expect(peak).toBeLessThan(512);
    },
    90_000,
  );

  test.each((['SIGTERM', 'SIGINT'] as const).slice(0, sized(1, 2)))(
    '%s stops the reading of a long document within a second',
    async (signal) => {
      // Texts of 60 characters: a document that is allowed, and takes a while.
      const file = bomb('long.json', '[', `{"role":"user","content":"${'x'.repeat(60)}"},`, 150);
      const { code, took } = await run(['import', file, '--dry-run', ...at('long')], {
        signal,
        when: (peak) => peak > 200,
      });
      expect(code).toBe(130);
      expect(took).toBeLessThan(1_000);
    },
    60_000,
  );

  test.each<[string, string]>(
    (
      [
        ['objects', '{},'],
        ['numbers', '1,'],
      ] as const
    )
      .slice(0, sized(1, 2))
      .map(([what, piece]) => [what, piece]),
  )(
    '300 MB of %s are no experiment, for a process with 512 MB of memory',
    async (_what, piece) => {
      const file = bomb('bomb.json', '[', piece, 300);
      const { code: exit, stderr, peak } = await run(['experiment', 'run', file, ...at('bombs')]);
      expect(stderr).toContain('E_INPUT_TOO_LARGE');
      expect(exit).toBe(1);
      expect(peak).toBeLessThan(512);
    },
    90_000,
  );

  test('SIGTERM stops the reading of a long experiment within a second', async () => {
    const file = bomb('long.json', '{"commands":[', `{"id":"${'x'.repeat(600)}","steps":[]},`, 150);
    const { code, took } = await run(['experiment', 'run', file, ...at('long')], {
      signal: 'SIGTERM',
      when: (peak) => peak > 200,
    });
    expect(code).toBe(130);
    expect(took).toBeLessThan(1_000);
  }, 60_000);

  test.each<[string, string, string]>([
    ['yes', 'yes', 'E_INPUT_NOT_JSON'],
    ['zeros', 'cat /dev/zero', 'E_INPUT_NOT_JSON'],
    ['an open list', "printf '['; yes '1,'", 'E_INPUT_TOO_LARGE'],
  ])(
    'a pipe that never ends is refused with a code, and no temporary copy stays: %s',
    async (_what, shell, code) => {
      const { code: exit, stderr, peak } = await run(['import', '-', ...at('pipes')], { shell });
      expect(stderr).toContain(code);
      expect(exit).toBe(1);
      expect(peak).toBeLessThan(512);
      expect(readdirSync(folder.path).filter((name) => name.startsWith('stemma-import-'))).toEqual([]);
    },
    60_000,
  );

  test.each<[string, (fifo: string) => string[]]>([
    ['import', (fifo) => ['import', fifo]],
    ['stages compile', (fifo) => ['stages', 'compile', fifo]],
    ['experiment run', (fifo) => ['experiment', 'run', fifo]],
  ])(
    '%s of a pipe without a writer ends at the first Ctrl-C',
    async (name, args) => {
      const fifo = join(folder.path, `${name.replace(' ', '-')}.fifo`);
      expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
      const { code, took } = await run([...args(fifo), ...at('fifo')], {
        signal: 'SIGINT',
        when: (_peak, pid) => hasOpened(pid, fifo),
      });
      expect(code).toBe(130);
      expect(took).toBeLessThan(1_500);
    },
    60_000,
  );

  test('a named pipe is imported like a file', async () => {
    const fifo = join(folder.path, 'talk.fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    const file = join(folder.path, 'talk.json');
    writeFileSync(
      file,
      JSON.stringify([
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'yes?' },
      ]),
    );
    const writer = spawn('sh', ['-c', 'cat "$0" > "$1"', file, fifo], { stdio: 'ignore' });
    const { code, stderr } = await run(['import', fifo, '--history', 'talk', ...at('talk')]);
    writer.kill('SIGKILL');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const again = await run(['import', '-', '--history', 'talk', ...at('talk')], { shell: `cat ${file}` });
    expect(again.stderr).toBe('');
    expect(again.code).toBe(0);
  }, 60_000);
});
