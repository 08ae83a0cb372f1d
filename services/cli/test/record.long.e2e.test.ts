import { openHome } from '@stemma/home';
import { FAKE_SECRETS, filesHolding, programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

let directory: string;
let upstream: Server;
let url: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-record-'));
  upstream = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      const message = { role: 'assistant', content: 'Which day?' };
      outgoing.end(JSON.stringify({ model: 'm', choices: [{ message, finish_reason: 'stop' }] }));
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  writeFileSync(join(directory, 'agent.mjs'), AGENT);
});
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

/** An agent that knows nothing of Stemma: it calls what OPENAI_BASE_URL says, and ends with the code that it is given. */
const AGENT = `
const messages = [{ role: 'user', content: process.argv[3] ?? 'A flight to Berlin' }];
for (let i = 0; i < 3; i++) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'm', messages }),
  });
  messages.push((await response.json()).choices[0].message, { role: 'user', content: 'Day ' + i });
}
console.log('said by the agent');
process.exitCode = Number(process.argv[2]);
`;

const run = (
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [programFile('stemma'), ...args],
      { env: { ...process.env, STEMMA_HOME: join(directory, 'home'), OPENAI_API_KEY: 'sk-1', ...env } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

test(
  'an agent is recorded by one line before it, and its exit code is the command’s',
  { tags: ['calls§3.1'] },
  async () => {
    // The command would call this address without Stemma, too.
    const agent = [process.execPath, join(directory, 'agent.mjs')];
    const { code, stdout, stderr } = await run(['record', '--', ...agent, '7'], { OPENAI_BASE_URL: url });
    expect(code).toBe(7);
    expect(stdout).toBe('said by the agent\n');
    expect(stderr).toContain(
      'recorded 3 of 3 calls in A-flight-to-Berlin: stemma calls A-flight-to-Berlin\n',
    );
    const named = await run(['record', '--history', 'flight', '--', ...agent, '0'], { OPENAI_BASE_URL: url });
    expect(named.code).toBe(0);
    const home = await openHome({ directory: join(directory, 'home') });
    for (const name of ['A-flight-to-Berlin', 'flight']) {
      const branch = await home.find(name);
      const { attempts } = await home.calls.list(branch);
      expect(attempts.map(({ cycle, status, match }) => [cycle, status, match])).toEqual([
        [1, 'answered', 'started'],
        [2, 'answered', 'appended'],
        [3, 'answered', 'appended'],
      ]);
      expect((await home.calls.find(branch.history, attempts[2]?.attemptId as string)).answer).toMatchObject({
        content: 'Which day?',
      });
    }
    await home.close();
    const json = await run(['record', '--json', '--', process.execPath, '-e', '']);
    expect(JSON.parse(json.stdout)).toMatchObject({ exitCode: 0, calls: 0, waiting: 0, histories: [] });
    expect(json.stderr).toContain('no calls were recorded');
  },
);

test(
  'a run that makes several conversations names the history of each, and each call can be assigned, once',
  { tags: ['calls§8.3'] },
  async () => {
    const home = join(directory, 'several');
    const env = { OPENAI_BASE_URL: url, STEMMA_HOME: home };
    const both = `for (const text of ['Look up a hotel', 'Look up some train']) { process.argv[3] = text; await import('${join(directory, 'agent.mjs')}?' + text.length); }`;
    const { stderr } = await run(
      ['record', '--', process.execPath, '--input-type=module', '-e', both, 'x', '0', 'x'],
      env,
    );
    expect(stderr).toContain('recorded 6 of 6 calls in 2 histories\n');
    const [first = '', second = ''] = [...stderr.matchAll(/^ {2}3 calls in (\S+): stemma calls \1$/gm)].map(
      ([, name]) => name,
    );
    const assign = ['assign', `${first}@c3`, '--to', second, '--actor', 'ann', '--notes', 'theirs'];
    const [once, again] = [await run(assign, env), await run(assign, env)];
    expect(once.stdout).toContain(`now in ${second}`);
    // Who says it once more is told where the call is, and nothing is recorded.
    expect(again).toEqual(once);
    const opened = await openHome({ directory: home });
    const of = async (name: string) => (await opened.calls.list(await opened.find(name))).attempts;
    expect(await of(second)).toHaveLength(4);
    expect((await of(second)).filter(({ assignedFrom }) => assignedFrom !== null)).toHaveLength(1);
    expect((await of(first)).map(({ reassignedTo }) => reassignedTo !== null)).toEqual([false, false, true]);
    await opened.close();
  },
);

test(
  'rules that are named on the line take secrets out of what is recorded',
  { tags: ['calls§2.4'] },
  async () => {
    const secret = FAKE_SECRETS[0]?.[2] as string;
    writeFileSync(join(directory, 'rules.json'), '{}');
    const agent = [process.execPath, join(directory, 'agent.mjs'), '0', `My key is ${secret}`];
    const { stderr } = await run(['record', '--redact', join(directory, 'rules.json'), '--', ...agent], {
      OPENAI_BASE_URL: url,
    });
    expect(stderr).toContain('recorded 3 of 3 calls');
    expect(filesHolding(join(directory, 'home'), [secret])).toEqual([]);
  },
);

test('a command that cannot be run, or is killed, ends as such', async () => {
  const missing = await run(['record', '--', '/nowhere/agent']);
  expect(missing.code).toBe(64);
  expect(missing.stderr).toContain('ENOENT');
  const killed = await run(['record', '--', process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")']);
  expect(killed.code).toBe(128 + 9);
});

test(
  'calls that an erasable history does not take go out, are recorded nowhere, and the last line says so',
  { tags: ['calls§8.6'] },
  async () => {
    const env = { OPENAI_BASE_URL: url, STEMMA_HOME: join(directory, 'erasable') };
    const core = (id: string, content: string) => ({
      ...{ id: `t-${id}`, nodeType: 'mt' },
      children: [{ id, nodeType: 'cb', role: 'user', kind: 'text', offset: 0, content }],
    });
    const turns = { id: 's', nodeType: '^seq', children: [core('u1', 'One'), core('u2', 'Two')] };
    const file = join(directory, 'private.json');
    writeFileSync(file, JSON.stringify({ spec_version: 'PACT/0.1.0', root: { id: 'r', children: [turns] } }));
    const imported = await run(['import', file, '--history', 'private', '--erasable'], env);
    expect(imported).toMatchObject({ code: 0 });
    const agent = [process.execPath, join(directory, 'agent.mjs'), '0', 'A planted sentence'];
    const { code, stdout, stderr } = await run(['record', '--history', 'private', '--', ...agent], env);
    expect([code, stdout]).toEqual([0, 'said by the agent\n']);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.at(-2)).toMatch(/recorded 0 of 3 calls$/);
    expect(lines.at(-1)).toMatch(
      /not recorded, though sent and answered: 3 of 3 calls, as private does not take the call .*E_SEALED.* \(E_CALL_NOT_ERASABLE\)$/,
    );
    expect(filesHolding(env.STEMMA_HOME, ['planted sentence'])).toEqual([]);
    expect((await run(['histories', '--json'], env)).stdout).not.toContain('planted');
  },
);

test(
  'calls one after another do not overlap, wherever they are listed, and say where they went; what the client left is counted apart',
  { tags: ['calls§4.3'] },
  async () => {
    const server = createServer((incoming, outgoing) => {
      incoming.resume().on('end', () => {
        outgoing.setHeader('retry-after', '7');
        if (incoming.url?.includes('messages') === true) {
          outgoing.setHeader('content-type', 'text/event-stream');
          const message = {
            type: 'message',
            role: 'assistant',
            content: [],
            model: 'm',
            usage: { input_tokens: 9, output_tokens: 1 },
          };
          outgoing.write(`data: ${JSON.stringify({ type: 'message_start', message })}\n\n`);
          return;
        }
        const message = { role: 'assistant', content: 'Which day?' };
        const body = JSON.stringify({ model: 'm', choices: [{ message, finish_reason: 'stop' }] });
        setTimeout(() => outgoing.end(body), 40);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const home = join(directory, 'times');
    const agent = `
    process.argv[2] = '0'; await import('${join(directory, 'agent.mjs')}');
    const gone = new AbortController();
    const body = JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'A story' }] });
    const response = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages?key=secret-in-query', { method: 'POST', body, signal: gone.signal });
    await response.body.getReader().read();
    gone.abort();`;
    const env = { OPENAI_BASE_URL: `${origin}/v1`, ANTHROPIC_BASE_URL: origin, STEMMA_HOME: home };
    const before = Date.now();
    // Its words are recorded, so the program is in a file.
    writeFileSync(join(directory, 'leaves.mjs'), agent);
    const { stderr } = await run(['record', '--', process.execPath, join(directory, 'leaves.mjs')], env);
    server.closeAllConnections();
    server.close();
    expect(stderr).toContain('recorded 4 of 4 calls (1 cancelled) in 2 histories');
    const opened = await openHome({ directory: home });
    const { attempts } = await opened.calls.list(await opened.find('A-flight-to-Berlin'));
    expect(attempts).toHaveLength(3);
    let free = before;
    for (const { at, durationMs, ...facts } of attempts) {
      expect(at).toBeGreaterThanOrEqual(free);
      expect(durationMs).toBeGreaterThanOrEqual(39);
      free = at + (durationMs as number);
      expect(facts).toMatchObject({ origin, path: '/v1/chat/completions', retryAfter: '7', choices: 1 });
    }
    const [left] = (await opened.calls.list(await opened.find('A-story'))).attempts;
    expect(left).toMatchObject({
      status: 'cancelled',
      origin,
      path: '/v1/messages',
      usage: { input: 9, output: null },
    });
    await opened.close();
    expect(filesHolding(home, ['secret-in-query'])).toEqual([]);
  },
);
