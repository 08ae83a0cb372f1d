import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAKE_SECRETS, filesHolding, programFile } from '@stemma/test-kit';
import { afterEach, beforeEach, expect, test } from 'vitest';

const tagged = { tags: ['calls§10.1', 'calls§10.2', 'calls§10.3'] };

type Exchange = { readonly line: string; readonly asked: Buffer; readonly answered: Buffer };
type Listed = { readonly [name: string]: unknown } & { readonly attempt_id: string };

let directory: string;
let upstream: Server;
let env: NodeJS.ProcessEnv;
/** What came to the provider, and what it answered. */
let exchanges: Exchange[];

/** Asks the APIs that are named in its arguments, in their order, and says what it was answered. */
const AGENT = `
const ask = async (method, path, body) => {
  const response = await fetch(process.env.OPENAI_BASE_URL + path, {
    method,
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  console.log(response.status, await response.text());
};
for (const [i, what] of process.argv.slice(2).entries()) {
  if (what === 'chat') await ask('POST', '/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Where is it?' }] });
  else if (what === 'models') await ask('GET', '/models');
  else if (what === 'gone') await ask('DELETE', '/files/f-1');
  else await ask('POST', '/embeddings', { model: 'e-1', input: what });
}
`;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-provider-calls-'));
  exchanges = [];
  upstream = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const { method = '', url = '' } = incoming;
      const answer = url.endsWith('/embeddings')
        ? { data: [{ embedding: [0.25, exchanges.length] }], usage: { prompt_tokens: 8, total_tokens: 8 } }
        : url.endsWith('/chat/completions')
          ? { choices: [{ message: { role: 'assistant', content: 'Here.' }, finish_reason: 'stop' }] }
          : { error: { message: 'no such file', code: 'not_found' } };
      const answered = Buffer.from(JSON.stringify(answer));
      exchanges.push({ line: `${method} ${url}`, asked: Buffer.concat(parts), answered });
      outgoing.writeHead('error' in answer ? 404 : 200, { 'content-type': 'application/json' });
      outgoing.end(answered);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  writeFileSync(join(directory, 'agent.mjs'), AGENT);
  env = { STEMMA_HOME: join(directory, 'home'), OPENAI_API_KEY: 'sk-key-of-nobody', OPENAI_BASE_URL: url };
});
afterEach(() => {
  upstream.closeAllConnections();
  upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [programFile('stemma'), ...args],
      { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

const record = (options: readonly string[], ...asks: readonly string[]): ReturnType<typeof run> =>
  run('record', ...options, '--', process.execPath, join(directory, 'agent.mjs'), ...asks);

const calls = async (history: string): Promise<readonly Listed[]> =>
  JSON.parse((await run('calls', history, '--json')).stdout) as Listed[];

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test(
  'calls without messages lie beside the run’s conversation, byte for byte, and belong to no cycle',
  tagged,
  async () => {
    const { stderr } = await record([], 'the sea', 'chat', 'models', 'the ship', 'gone');
    expect(stderr).toContain(
      'recorded 4 of 5: 1 passed unrecorded (GET /v1/models ×1) (1 failed) in Where-is-it',
    );
    const listed = await calls('Where-is-it');
    expect(listed.map(({ api, label, method, path, model }) => [api, label, method, path, model])).toEqual([
      ['other', null, 'POST', '/v1/embeddings', 'e-1'],
      ['openai.chat', '@c1', undefined, '/v1/chat/completions', 'm'],
      ['other', null, 'POST', '/v1/embeddings', 'e-1'],
      ['other', null, 'DELETE', '/v1/files/f-1', null],
    ]);
    const kept = exchanges.filter(({ line }) => !line.startsWith('GET'));
    expect(listed.map((call) => [call['request_sha256'], call['response_sha256']])).toEqual(
      kept.map(({ asked, answered }) => [sha256(asked), sha256(answered)]),
    );
    expect(listed[0]).toMatchObject({ status: 'answered', usage: { input: 8, output: 0 } });
    expect(listed[3]).toMatchObject({ status: 'failed', http_status: 404, error: { code: 'not_found' } });
    const id = listed[2]?.attempt_id as string;
    for (const which of ['request', 'response'] as const) {
      const { stdout } = await run('call', 'Where-is-it', id, '--raw', which);
      expect(stdout).toBe(String(kept[2]?.[which === 'request' ? 'asked' : 'answered']));
    }
    expect((await run('call', 'Where-is-it', id)).stdout).toContain('POST embeddings');
    expect((await run('calls', 'Where-is-it')).stdout).toContain('DELETE f-1');
    expect((await run('verify', '--rows')).code).toBe(0);
    expect(filesHolding(join(directory, 'home'), ['sk-key-of-nobody'])).toEqual([]);
  },
);

test('where no conversation is, they lie in the named history, or in one of their run', tagged, async () => {
  expect((await record(['--history', 'index'], 'a', 'b')).stderr).toContain('recorded 2 of 2 calls in index');
  expect(await calls('index')).toHaveLength(2);
  const { stdout } = await record(['--json'], 'a', 'b');
  const { run: id, histories } = JSON.parse(stdout.slice(stdout.indexOf('{"exitCode"'))) as {
    readonly run: string;
    readonly histories: readonly string[];
  };
  expect(histories).toHaveLength(1);
  const own = await calls(`run-${id}`);
  expect(own.map((call) => [call['api'], call['run']])).toEqual([
    ['other', id],
    ['other', id],
  ]);
});

test(
  'a rerun answers them from the log, each once, and a bundle carries them',
  { tags: ['long', ...tagged.tags] },
  async () => {
    const asks = ['the sea', 'chat', 'the ship', 'gone'];
    const { stdout } = await record([], ...asks);
    upstream.closeAllConnections();
    upstream.close();
    const agent = [process.execPath, join(directory, 'agent.mjs')];
    const again = await run('rerun', 'Where-is-it', '--', ...agent, ...asks);
    expect([again.code, again.stdout.startsWith(stdout)]).toEqual([0, true]);
    const more = await run('rerun', 'Where-is-it', '--', ...agent, ...asks, 'the sea');
    expect(more.stdout).toContain('404 ');
    expect(more.stdout).toContain(
      'POST /v1/embeddings is no call of a model, and nothing recorded answers it',
    );
    const file = join(directory, 'run.stemma');
    expect((await run('bundle', 'Where-is-it', '--output', file)).stdout).toContain('4 calls');
    env = { ...env, STEMMA_HOME: join(directory, 'empty') };
    const bundled = await run('rerun', file, '--', ...agent, ...asks);
    expect([bundled.code, bundled.stdout.startsWith(stdout)]).toEqual([0, true]);
  },
);

test('secrets are taken out of their bodies', { tags: ['long', 'calls§10.1', 'calls§2.4'] }, async () => {
  const secret = FAKE_SECRETS[0]?.[2] as string;
  const rules = join(directory, 'rules.json');
  writeFileSync(rules, '{}');
  await record(['--redact', rules], 'chat', `my key is ${secret}`);
  const [, embedded] = await calls('Where-is-it');
  const { stdout } = await run('call', 'Where-is-it', embedded?.attempt_id as string, '--raw', 'request');
  expect(stdout).toContain('my key is ');
  expect(stdout).not.toContain(secret);
  expect(filesHolding(join(directory, 'home'), [secret])).toEqual([]);
});
