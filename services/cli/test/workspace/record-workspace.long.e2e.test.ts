import { openHome } from '@stemma/home';
import { FAKE_SECRETS, filesHolding, programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** An agent that does what it is told: `write_file` writes, `run` runs a command. */
const AGENT = `
import { writeFileSync } from 'node:fs';
import { execSync } from 'node:child_process';
const messages = [{ role: 'user', content: 'Change the project' }];
for (;;) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST', body: JSON.stringify({ model: 'm', messages }),
  });
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  for (const { id, function: { name, arguments: said } } of message.tool_calls ?? []) {
    const { path, text, command } = JSON.parse(said);
    if (name === 'write_file') writeFileSync(path, text);
    else execSync(command);
    messages.push({ role: 'tool', tool_call_id: id, content: 'done' });
  }
  if (message.tool_calls === undefined) break;
}
`;
const toolCall = (id: string, name: string, said: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(said) },
});
const STEPS = [
  [toolCall('t1', 'write_file', { path: 'a.ts', text: 'two\n' })],
  [toolCall('t2', 'run', { command: 'sh make.sh' })],
  [toolCall('t3', 'run', { command: 'rm b.ts' }), toolCall('t4', 'run', { command: 'true' })],
];
/** So long an answer takes that the look at the files, which begins with it, is over before it is there. */
const THINKS = 1_500;

const [, TEXT = '', SECRET = ''] = FAKE_SECRETS[0] ?? [];

let directory: string;
let project: string;
let provider: Server;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-files-'));
  project = join(directory, 'project');
  mkdirSync(project);
  writeFileSync(join(directory, 'agent.mjs'), AGENT);
  writeFileSync(join(project, 'a.ts'), 'one\n');
  writeFileSync(join(project, 'b.ts'), 'b\n');
  writeFileSync(join(project, 'keys.txt'), `key ${TEXT}\n`);
  writeFileSync(join(project, 'make.sh'), 'echo made > out.txt\n');
  writeFileSync(join(project, 'picture'), new Uint8Array([0xff, 0xfe, 0x00]));
  provider = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as {
        readonly messages: readonly { readonly role: string }[];
      };
      const calls = STEPS[messages.filter(({ role }) => role === 'assistant').length];
      const message = { role: 'assistant', content: calls === undefined ? 'Done.' : null, tool_calls: calls };
      const answer = { model: 'm', choices: [{ message, finish_reason: 'stop' }] };
      setTimeout(() => outgoing.end(JSON.stringify(answer)), THINKS);
    });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (
  home: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
  new Promise((resolve) => {
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    execFile(
      process.execPath,
      [programFile('stemma'), ...args],
      { cwd: project, env: { ...process.env, STEMMA_HOME: home, OPENAI_BASE_URL: url, ...env } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

test('what a run did to its files is recorded, each change put down to a tool call, and no secret', async () => {
  const home = join(directory, 'home');
  mkdirSync(home);
  writeFileSync(join(home, 'redact.json'), '{}');
  const agent = [process.execPath, join(directory, 'agent.mjs')];
  const { code, stderr } = await run(home, ['record', '--history', 'h', '--workspace', '--', ...agent]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(stderr).toContain(
    'recorded 5 files, and 3 changes of files; 2 by hash only, as they are large, binary or have secrets: keys.txt, picture\n',
  );
  expect(filesHolding(home, [SECRET])).toEqual([]);
  const opened = await openHome({ directory: home });
  const events = await opened.read.events((await opened.find('h')).history);
  const found = events.flatMap(({ event }) => (event.type === 'EffectRecorded' ? [event] : []));
  await opened.close();
  expect(found.map(({ effect }) => [effect.snapshot, effect.part, effect.parts])).toEqual([
    [0, 0, 1],
    [1, 0, 1],
    [2, 0, 1],
    [3, 0, 1],
  ]);
  const files = found.flatMap(({ effect }) => effect.files);
  expect(
    files.map(({ path, change, contents, cause }) => [path, change, contents, cause?.why, cause?.toolCall]),
  ).toEqual([
    ['a.ts', 'present', 'kept', undefined, undefined],
    ['b.ts', 'present', 'kept', undefined, undefined],
    ['keys.txt', 'present', 'secret', undefined, undefined],
    ['make.sh', 'present', 'kept', undefined, undefined],
    ['picture', 'present', 'binary', undefined, undefined],
    ['a.ts', 'changed', 'kept', 'argument', 't1'],
    ['out.txt', 'added', 'kept', 'only', 't2'],
    ['b.ts', 'removed', null, 'argument', 't3'],
  ]);
  expect(found[1]?.payload).toEqual({ data_contents: [[0, 'text', 'two\n']] });
  expect((await run(home, ['verify'])).code).toBe(0);
  // What is not kept is in no copy.
  const refused = await run(home, ['rerun', 'h', '--workspace', 'copy']);
  expect(refused).toMatchObject({ code: 64, stdout: '' });
  expect(refused.stderr).toContain('keys.txt (secret), picture (binary) (E_WORKSPACE_NOT_KEPT)');
});

test('without git, or without the directory, nothing starts', async () => {
  const home = join(directory, 'other');
  const record = (where: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    run(home, ['record', '--workspace', ...where, '--', process.execPath, '-e', 'console.log("ran")'], env);
  expect(await record([], { PATH: directory })).toMatchObject({
    ...{ code: 64, stdout: '' },
    stderr: expect.stringContaining('E_GIT_MISSING') as string,
  });
  expect(await record(['missing'])).toMatchObject({ code: 64, stdout: '' });
  // Without calls there is no history to record anything in.
  const none = await record([]);
  expect(none).toMatchObject({ code: 0, stdout: 'ran\n' });
  expect(none.stderr).toContain('what became of the files is not recorded, as no call is\n');
});

test('a rerun has a copy of the files that the recorded run started with', async () => {
  const home = join(directory, 'copied');
  rmSync(join(project, 'out.txt'), { force: true });
  writeFileSync(join(project, 'a.ts'), 'one\n');
  writeFileSync(join(project, 'b.ts'), 'b\n');
  writeFileSync(join(project, 'agent.mjs'), `${AGENT}\nconsole.log(process.cwd());\n`);
  const agent = [process.execPath, 'agent.mjs'];
  expect((await run(home, ['record', '--history', 'h', '--workspace', '--', ...agent])).code).toBe(0);
  // Here b.ts is gone, and its removal fails.
  const copy = ['rerun', 'h', '--workspace', 'copy', '--verify', 'test -f out.txt && test ! -f b.ts'];
  const { code, stdout, stderr } = await run(home, copy, { STEMMA_ACTOR: 'ann' });
  expect([code, stderr]).toEqual([0, expect.stringContaining('a copy of the 6 files')]);
  expect(stdout).toContain('same 4');
  const [ranIn = ''] = stdout.split('\n');
  expect(ranIn).toContain('stemma-workspace-');
  expect(existsSync(ranIn)).toBe(false);
  expect((await run(home, ['verify'])).code).toBe(0);
});
