import { rerun } from '@stemma/recorder/rerun';
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN, runStemma, temporaryFolder, type Run } from './run-stemma.ts';

/** Asks three times, with an id of its own in the question, and prints what it heard last. */
const AGENT = `
const messages = [{ role: 'system', content: process.env.PROMPT ?? 'You count.' }, { role: 'user', content: 'Begin ' + crypto.randomUUID() }];
for (let i = 0; i < 3; i++) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'm', messages }),
  });
  if (!response.ok) process.exit(3);
  const { message } = (await response.json()).choices[0];
  messages.push(message, { role: 'user', content: 'And ' + i + '?' });
}
`;

const folder = temporaryFolder();
const at = (name: string): string => join(folder.path, name);
let provider: Server;
let asked = 0;

beforeAll(async () => {
  provider = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      const answer = { role: 'assistant', content: `Answer ${++asked}` };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ model: 'm', choices: [{ message: answer, finish_reason: 'stop' }] }));
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  writeFileSync(at('agent.mjs'), AGENT);
  expect((await run('home', 'record', '--history', 'count', '--', ...agent())).code).toBe(0);
  expect((await run('home', 'bundle', 'count', '-o', at('run.stemma'))).code).toBe(0);
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
  folder[Symbol.dispose]();
});

const agent = (): string[] => [process.execPath, at('agent.mjs')];
const run = (home: string, ...args: string[]): Promise<Run> =>
  runStemma(args, {
    env: {
      STEMMA_HOME: at(home),
      STEMMA_UPSTREAM_OPENAI: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    },
  });
const temporaryHomes = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`stemma-rows-${process.pid}.`));

test('a run answers from its file: without a home, without a provider, and nothing is left', async () => {
  const before = asked;
  const same = await run('none', 'rerun', at('run.stemma'), '--json', '--', ...agent());
  expect(same.code).toBe(0);
  expect(JSON.parse(same.stdout)).toMatchObject({ same: 0, bound: 3, differs: 0, missing: 0 });
  expect([asked, existsSync(at('none')), temporaryHomes()]).toEqual([before, false, []]);
});

test('what differs from a file is told as from a home, and nothing is proposed that a file cannot do', async () => {
  writeFileSync(at('other.mjs'), AGENT.replace('You count.', 'You add.'));
  const other = ['--', process.execPath, at('other.mjs')];
  const differs = await run('none', 'rerun', at('run.stemma'), '--report', at('report.html'), ...other);
  expect(differs.code).toBe(5);
  const page = readFileSync(at('report.html'), 'utf8');
  expect(page).toContain('@c1 differs: the prompt says something else');
  expect(page).toContain('You <del>count</del><ins>add</ins>.');
  expect(statSync(at('report.html')).mode & 0o777).toBe(0o600);
  expect((await run('none', 'rerun', at('run.stemma'), '--report', at('no/page.html'), ...other)).code).toBe(
    64,
  );
  expect(differs.stdout).toContain('recorded by @s1');
  expect(differs.stdout).not.toContain('--from');
  for (const option of [
    ['--from', '@c2'],
    ['--on-difference', 'live'],
  ])
    expect((await run('none', 'rerun', at('run.stemma'), ...option, '--', ...agent())).code).toBe(64);
});

test('the bytes of a bundle are those of its run, whenever it is written', async () => {
  expect((await run('home', 'bundle', 'count', '-o', at('other.stemma'))).code).toBe(0);
  expect(readFileSync(at('other.stemma')).equals(readFileSync(at('run.stemma')))).toBe(true);
  // What comes behind the run is not in it.
  expect((await run('home', 'insert', 'count', '--role', 'user', '--content', 'later')).code).toBe(0);
  expect((await run('home', 'bundle', 'count', '-o', at('other.stemma'))).code).toBe(0);
  expect(readFileSync(at('other.stemma')).includes('later')).toBe(false);
  expect(readFileSync(at('other.stemma')).equals(readFileSync(at('run.stemma')))).toBe(true);
});

test('verify checks a bundle, and refuses one that is not as it was written', async () => {
  expect(await run('none', 'verify', at('run.stemma'))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('no problems') as string,
  });
  const whole = readFileSync(at('run.stemma'));
  const damaged = new Map<string, Buffer>([
    ['cut off', whole.subarray(0, -1)],
    ['one byte', Buffer.from(whole).fill(whole[400] === 0 ? 1 : 0, 400, 401)],
    ['empty', Buffer.alloc(0)],
    ['of another program', Buffer.from('PK\u0003\u0004')],
    ['longer', Buffer.concat([whole, Buffer.from('frame 0\n\n')])],
  ]);
  for (const [what, bytes] of damaged) {
    writeFileSync(at('bad.stemma'), bytes);
    const refused = await run('none', 'verify', at('bad.stemma'));
    expect([what, refused.code, refused.stderr.includes('E_BUNDLE_DAMAGED')]).toEqual([what, 5, true]);
    expect((await run('none', 'rerun', at('bad.stemma'), '--', ...agent())).code).toBe(5);
  }
  expect((await run('none', 'verify', at('nowhere.stemma'))).stderr).toContain('E_BUNDLE_NOT_FOUND');
  expect(temporaryHomes()).toEqual([]);
});

/** The program as people have it on their path. */
const program = (): string => {
  writeFileSync(at('stemma'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
  return at('stemma');
};

test(
  'a test of an agent is one line of JavaScript, and its error says where the agent parts',
  { tags: ['long'] },
  async () => {
    const stemma = program();
    expect(await rerun(at('run.stemma'), agent(), { stemma })).toMatchObject({ bound: 3, exit: 0 });
    const env = { ...process.env, PROMPT: 'You add.' };
    await expect(rerun(at('run.stemma'), agent(), { stemma, env })).rejects.toMatchObject({
      exit: 5,
      message: expect.stringMatching(
        /at @c1: prompt \(message 1\)\n {2}recorded: You count\.\n {2}now: {6}You add\./,
      ) as string,
    });
    await expect(rerun(at('nowhere.stemma'), agent(), { stemma })).rejects.toMatchObject({
      exit: 74,
      report: null,
    });
    await expect(rerun(at('run.stemma'), agent(), { stemma: at('nothing') })).rejects.toThrow(
      'STEMMA_PROGRAM',
    );
  },
);

test(
  'a test of an agent is one line of Python, and its error says where the agent parts',
  { tags: ['long'] },
  async ({ skip }) => {
    const python = [
      '-c',
      'import sys\nfrom stemma_recorder.rerun import rerun\nprint(rerun(*sys.argv[1:])["bound"])',
    ];
    const path = join(import.meta.dirname, '../../../packages/agents/recorder-python/src');
    const tried = (env: NodeJS.ProcessEnv): SpawnSyncReturns<string> =>
      spawnSync('python3', [...python, at('run.stemma'), ...agent()], {
        encoding: 'utf8',
        env: {
          ...process.env,
          PYTHONPATH: path,
          PYTHONDONTWRITEBYTECODE: '1',
          STEMMA_PROGRAM: program(),
          ...env,
        },
      });
    const same = tried({});
    if (same.error !== undefined) skip('there is no Python');
    expect(same).toMatchObject({ status: 0, stdout: '3\n' });
    const other = tried({ PROMPT: 'You add.' });
    expect(other.status).toBe(1);
    expect(other.stderr).toContain(
      'at @c1: prompt (message 1)\n  recorded: You count.\n  now:      You add.',
    );
  },
);

test('a run that can be erased is in no file', { tags: ['long'] }, async () => {
  expect((await run('home', 'start', '--name', 'private', '--erasable', '--subject', 'somebody')).code).toBe(
    0,
  );
  expect((await run('home', 'record', '--history', 'private', '--', ...agent())).code).toBe(0);
  const refused = await run('home', 'bundle', 'private', '-o', at('private.stemma'));
  expect([refused.code, refused.stderr.includes('E_BUNDLE_ERASABLE')]).toEqual([1, true]);
  expect(existsSync(at('private.stemma'))).toBe(false);
  rmSync(at('other.stemma'));
});
