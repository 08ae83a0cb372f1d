import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { runCli } from '../src/run-cli.ts';
import { MAIN, runStemma, spawnStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const directory = join(folder.path, 'home');
const home = ['--home', directory];
const chat = join(folder.path, 'chat.json');
writeFileSync(
  chat,
  JSON.stringify([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'yes?' },
  ]),
);

test.each([
  ['an unknown command', ['frobnicate']],
  ['an unknown option', ['histories', '--frobnicate']],
  ['a missing argument', ['thread']],
  ['an argument too many', ['branches', 'x', 'more']],
  ['no command', []],
  ['a number that is none', ['log', 'x', '--from', 'one']],
])('%s is a usage error: one JSON document, exit 64', async (_what, args) => {
  await stemmaJson(['import', chat, '--history', 'x', ...home]);
  const run = await runStemma(args.length === 0 ? ['--json'] : [...args, '--json', ...home]);
  expect(run.code).toBe(64);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'E_USAGE' } });
  expect(run.stderr).toContain('(E_USAGE)');
});

test('--home and --json may precede the command; STEMMA_HOME is used when no --home is given', async () => {
  await stemmaJson(['import', chat, '--history', 'x', ...home]);
  const list = (await runStemma(['--json', ...home, 'histories'])).stdout;
  expect((JSON.parse(list) as unknown[]).length).toBe(1);
  expect((await runStemma(['histories', '--json'], { env: { STEMMA_HOME: directory } })).stdout).toBe(list);
});

test('an older Node.js is told which one is needed, not by a stack trace', () => {
  const older = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '22.14.9' } })`;
  const run = spawnSync(process.execPath, ['--import', older, MAIN, '--version'], { encoding: 'utf8' });
  expect(run).toMatchObject({ status: 1, stdout: '' });
  expect(run.stderr).toMatch(/^stemma needs Node\.js 22\.15 or newer, and this is v\S+\.\n$/);
});

test('ack creates no home where there is none', async () => {
  const nowhere = join(folder.path, 'nowhere');
  const run = await runStemma(['ack', '0@0', '--yes', '--json', '--home', nowhere]);
  expect([run.code, existsSync(nowhere)]).toEqual([1, false]);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'E_HOME_NOT_FOUND' } });
});

test('without a terminal ack asks no question and names the option to give', async () => {
  await stemmaJson(['start', '--name', 'some', ...home]);
  const run = await runStemma(['ack', '0@0', '--json', ...home]);
  expect(run.code).toBe(64);
  expect(run.stdout).toContain('--yes');
});

test('a pipe is imported like a file of the same bytes', async () => {
  const lines = '{"role":"user","content":"hi"}\n{"role":"assistant","content":"yes?"}\n';
  const file = join(folder.path, 'chat.jsonl');
  writeFileSync(file, lines);
  const { imported } = (await stemmaJson(['import', file, '--history', 'piped', ...home])) as {
    imported: readonly object[];
  };
  const piped = execFileSync(
    'sh',
    [
      '-c',
      'cat "$1" | "$2" "$3" import /dev/stdin --history piped --json --home "$4"',
      '-',
      file,
      process.execPath,
      MAIN,
      directory,
    ],
    { encoding: 'utf8' },
  );
  expect(JSON.parse(piped)).toEqual({
    imported: imported.map((each) => ({ ...each, file: '/dev/stdin', repeated: true })),
    refused: [],
  });
});

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

test('Ctrl-C while a command waits for stdin cancels it, exit 130, and nothing is recorded', async () => {
  await stemmaJson(['start', '--name', 'wait', ...home]);
  const stop = new AbortController();
  const stdin = new PassThrough();
  const running = runCli(['insert', 'wait', ...home], {
    stdin,
    stdout: nowhere(),
    stderr: nowhere(),
    env: {},
    signal: stop.signal,
  });
  stdin.write('half a ');
  setImmediate(() => stop.abort());
  expect(await running).toBe(130);
  expect(((await stemmaJson(['log', 'wait', ...home])) as unknown[]).length).toBe(1);
});

test('`up` that is ended with SIGTERM exits 0', async () => {
  const child = spawn(process.execPath, [MAIN, 'up', '--port', '0', ...home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('a service that is told to end while it begins exits 0 after SIGTERM; one that was to end by itself is cancelled', async () => {
  const run = (args: readonly string[], reason: string): Promise<number> =>
    runCli([...args, ...home], {
      ...{ stdin: new PassThrough(), stdout: nowhere(), stderr: nowhere() },
      ...{ env: { STEMMA_ROWS: 'postgres://127.0.0.1:1/none' }, signal: AbortSignal.abort(reason) },
    });
  const relay = ['relay', '--to', 'kafka://127.0.0.1:1/none'];
  const served = [['up'], ['open'], ['projector'], ['runner'], relay];
  expect(await Promise.all(served.map((args) => run(args, 'SIGTERM')))).toEqual(served.map(() => 0));
  expect(await Promise.all(served.map((args) => run(args, 'SIGINT')))).toEqual(served.map(() => 130));
  const others = [['histories'], ['runner', '--once'], [...relay, '--once']];
  expect(await Promise.all(others.map((args) => run(args, 'SIGTERM')))).toEqual(others.map(() => 130));
});

test(
  'Ctrl-C during an import cancels it, exit 130; run again it completes',
  { tags: ['long', 'record§3:imports'] },
  async () => {
    const file = join(folder.path, 'long.json');
    const messages = Array.from({ length: 800 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `message ${i}`,
    }));
    writeFileSync(file, JSON.stringify(messages));
    const child = spawn(process.execPath, [MAIN, 'import', file, '--history', 'long', ...home]);
    const deadline = Date.now() + 120_000;
    const count = async (): Promise<number> => {
      const list = (await stemmaJson(['histories', ...home])) as { name: string | null; frames: number }[];
      return list.find(({ name }) => name === 'long')?.frames ?? 0;
    };
    while (child.exitCode === null && (await count()) < 10 && Date.now() < deadline);
    const ended = child.exitCode === null ? once(child, 'close') : Promise.resolve([child.exitCode]);
    child.kill('SIGINT');
    expect([0, 130]).toContain(((await ended) as [number])[0]);
    const again = (await stemmaJson(['import', file, '--history', 'long', ...home])) as {
      imported: { cycles: number }[];
    };
    expect(again.imported[0]?.cycles).toBe(400);
    expect(await stemmaJson(['replay', '--verify', ...home])).toMatchObject({ differences: 0 });
  },
);

test('a closed stdout ends a stream with exit 0; a full disk ends it with exit 74', async () => {
  await stemmaJson(['import', chat, '--history', 'x', ...home]);
  const broken = (code: string): Writable =>
    new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
    });
  const to = (stdout: Writable): Promise<number> =>
    runCli(['log', 'x', ...home], {
      stdin: Readable.from([]),
      stdout,
      stderr: nowhere(),
      env: {},
      signal: new AbortController().signal,
    });
  expect(await to(broken('EPIPE'))).toBe(0);
  expect(await to(broken('ENOSPC'))).toBe(74);
});

test('without a terminal a command prints no colour, progress or stack trace, also in a child process', async () => {
  const run = await spawnStemma(['import', chat, join(folder.path, 'missing.json'), ...home]);
  expect(run.code).toBe(74);
  expect(run.stderr).toMatch(/missing\.json: refused: the file .*missing\.json does not exist \(E_IO\)\n/);
  expect(run.stderr + run.stdout).not.toMatch(/\u001b|\n\s+at /);
});

test('a cancelled command removes its progress bar, which would keep the process alive', async () => {
  await stemmaJson(['import', chat, '--history', 'x', ...home]);
  const stop = new AbortController();
  const shown: string[] = [];
  const stderr = Object.assign(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        shown.push(chunk.toString());
        // The first that is shown of the bar is answered with Ctrl-C.
        stop.abort();
        done();
      },
    }),
    { isTTY: true, columns: 80, cursorTo: () => true, clearLine: () => true, moveCursor: () => true },
  );
  const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  const before = timers();
  await runCli(['replay', '--verify', ...home], {
    stdin: Readable.from([]),
    stdout: nowhere(),
    stderr,
    env: {},
    signal: stop.signal,
  });
  expect(shown.length).toBeGreaterThan(0);
  // The test runner has timers of its own that come and go; one of a bar would stay for good.
  for (const end = performance.now() + 60_000; timers() > before && performance.now() < end;)
    await new Promise((resolve) => setImmediate(resolve));
  expect(timers()).toBeLessThanOrEqual(before);
});
