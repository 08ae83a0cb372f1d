import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { openHome } from '@stemma/home';
import { programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { textClient } from './agent/mcp-client.ts';

/**
 * An agent that knows nothing of Stemma: it looks at three piers, one call for each, and says what it heard last. Its environment
 * changes what it says, what its tool gives, and whether it streams.
 */
const AGENT = `
const env = process.env;
const isAnthropic = env.API === 'anthropic';
const at = isAnthropic ? env.ANTHROPIC_BASE_URL + '/v1/messages' : env.OPENAI_BASE_URL + '/chat/completions';
const prompt = (env.PROMPT ?? 'You run a harbour.') + (env.TIME ? ' It is ' + new Date().toISOString() : '');
const question = 'How many ships? ' + (env.ID ? 'Request ' + crypto.randomUUID() : '');
const messages = [{ role: 'user', content: question }];
const stream = env.STREAM === '1';
const readText = async (response) => {
  if (!stream) {
    const body = await response.json();
    return isAnthropic ? body.content[0].text : body.choices[0].message.content;
  }
  let said = '';
  for (const line of (await response.text()).split('\\n')) {
    if (!line.startsWith('data: {')) continue;
    const event = JSON.parse(line.slice(6));
    said += (isAnthropic ? event.delta?.text : event.choices[0]?.delta.content) ?? '';
  }
  return said;
};
let said = '';
for (let pier = 0; pier < 3; pier++) {
  const body = {
    model: env.MODEL ?? 'm', max_tokens: 100, stream,
    ...(isAnthropic ? { system: prompt, messages } : { messages: [{ role: 'system', content: prompt }, ...messages] }),
  };
  let response;
  for (let tried = 0; tried < 2; tried++) {
    response = await fetch(at, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    if (response.status !== 429) break;
  }
  if (response.status !== 200) {
    console.log('HTTP ' + response.status + ' ' + response.headers.get('x-should-retry'));
    process.exit(1);
  }
  said = await readText(response);
  const seen = env.WORLD && pier === 1 ? 'nine' : 'three';
  messages.push({ role: 'assistant', content: said }, { role: 'user', content: 'At pier ' + pier + ' there are ' + seen + ' ships.' });
}
console.log(said);
`;

let directory: string;
let provider: Server;
let url: string;
let asked = 0;
/** What the provider answers a call with: words that only this call can have, and the id that the question has. */
const wordsFor = (body: string): string => {
  const id = /Request ([0-9a-f-]{36})/.exec(body)?.[1] ?? 'none';
  return `Answer ${createHash('sha256').update(body).digest('hex').slice(0, 6)} to ${id}`;
};
const answerTo = (path: string, body: string): { readonly type: string; readonly text: string } => {
  const { stream } = JSON.parse(body) as { readonly stream: boolean };
  const words = wordsFor(body);
  const isAnthropic = path.endsWith('/messages');
  if (!stream) {
    const answer = isAnthropic
      ? {
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: words }],
          stop_reason: 'end_turn',
        }
      : { model: 'm', choices: [{ message: { role: 'assistant', content: words }, finish_reason: 'stop' }] };
    return { type: 'application/json', text: JSON.stringify(answer) };
  }
  // An id that is cut over two events is put back as a whole.
  const halves = [words.slice(0, 30), words.slice(30)];
  const events = isAnthropic
    ? [
        {
          type: 'message_start',
          message: { role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...halves.map((text) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text },
        })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ]
    : [
        ...halves.map((content) => ({
          model: 'm',
          choices: [{ index: 0, delta: { role: 'assistant', content } }],
        })),
        { model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ];
  const named = events.map(
    (event) => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
  );
  return { type: 'text/event-stream', text: named.join('') + (isAnthropic ? '' : 'data: [DONE]\n\n') };
};

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-rerun-'));
  provider = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        asked++;
        const body = Buffer.concat(pieces).toString();
        if (body.includes('LIMITED') && asked === 2) {
          outgoing.writeHead(429, { 'retry-after': '0', 'content-type': 'application/json' });
          outgoing.end('{"error":{"message":"slow down"}}');
          return;
        }
        const { type, text } = answerTo(incoming.url ?? '', body);
        outgoing.writeHead(200, { 'content-type': type });
        outgoing.end(text);
      });
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  writeFileSync(join(directory, 'agent.mjs'), AGENT);
});
beforeEach(() => {
  asked = 0;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
  rmSync(directory, { recursive: true, force: true });
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

const run = (home: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  runIn(process.cwd(), home, args, env);

const runIn = (
  cwd: string,
  home: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [programFile('stemma'), ...args],
      {
        cwd,
        env: {
          ...process.env,
          STEMMA_HOME: join(directory, home),
          STEMMA_ACTOR: 'ada',
          STEMMA_UPSTREAM_OPENAI: `${url}/v1`,
          STEMMA_UPSTREAM_ANTHROPIC: url,
          ...env,
        },
      },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

const agent = (): string[] => [process.execPath, join(directory, 'agent.mjs')];
const recorded = async (home: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const { code, stdout } = await run(home, ['record', '--', ...agent()], env);
  expect(code).toBe(0);
  asked = 0;
  const opened = await openHome({ directory: join(directory, home) });
  const { histories } = await opened.read.listHistories({});
  await opened.close();
  ids.set(home, histories[0]?.history ?? '');
  return stdout;
};
/** The history that was recorded in a home. */
const ids = new Map<string, string>();
const again = (home: string, env: NodeJS.ProcessEnv, ...options: string[]): Promise<Ran> =>
  run(home, ['rerun', ids.get(home) ?? '', ...options, '--', ...agent()], env);
const documentOf = ({
  stdout,
}: Ran): { readonly calls: readonly Record<string, unknown>[] } & Record<string, unknown> =>
  JSON.parse(stdout) as ReturnType<typeof documentOf>;

test.each([
  ['openai', '0'],
  ['anthropic', '1'],
])(
  'an agent that runs again is answered as it was, and nobody else is asked (%s, streams %s)',
  async (API, STREAM) => {
    const home = `${API}-${STREAM}`;
    const env = { API, STREAM };
    const said = await recorded(home, env);
    const before = await framesOf(home);
    const same = await again(home, env);
    expect([same.code, same.stdout.startsWith(said), asked]).toEqual([0, true, 0]);
    expect(same.stdout).toContain('same 3, bound 0, differs 0, missing 0 of 3     exit 0');
    // What came of it is one frame, and no branch.
    expect(await framesOf(home)).toBe(before + 1);

    const bound = `${home}-bound`;
    await recorded(bound, { ...env, ID: '1', TIME: '1' });
    const other = await again(bound, { ...env, ID: '1', TIME: '1' }, '--json');
    const document = documentOf(other);
    expect([other.code, document['bound'], asked]).toEqual([0, 3, 0]);
    // The agent finds its own id in the recorded answer.
    const bindings = document.calls[0]?.['bindings'] as readonly {
      readonly kind: string;
      readonly now: string;
    }[];
    expect(new Set(bindings.map(({ kind }) => kind))).toEqual(new Set(['time', 'uuid']));
    expect(other.stderr).toContain(`to ${bindings.find(({ kind }) => kind === 'uuid')?.now}`);
  },
);

test('a dry run says what would run and what answers it, and runs nothing', async () => {
  await recorded('dry', {});
  const before = await framesOf('dry');
  const { code, stdout } = await again('dry', {}, '--dry-run', '--from', '@c2');
  expect(code).toBe(0);
  expect(stdout).toContain('nothing has run');
  expect(stdout).toContain('1 recorded call is answered from the recording');
  expect(stdout).toContain('2 recorded calls would go to their provider');
  expect(documentOf(await again('dry', {}, '--dry-run', '--json'))).toMatchObject({
    served: { calls: 3 },
    live: { calls: 0, tokens: 0, cost: null },
    onDifference: 'stop',
  });
  expect([asked, await framesOf('dry')]).toEqual([0, before]);
});

test('an agent reruns the recorded command if the server allows it, and says so', async () => {
  await recorded('for-agents', { API: 'openai', STREAM: '0' });
  const before = await framesOf('for-agents');
  const env = { ...process.env, STEMMA_HOME: join(directory, 'for-agents'), API: 'openai', STREAM: '0' };
  const ask = async (allow: readonly string[], go: boolean) => {
    const client = new Client({ name: 'tester', version: '1.0' });
    const args = [programFile('stemma'), 'mcp', ...allow];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env: textsOf(env), stderr: 'ignore' }),
    );
    await using opened = textClient(client);
    return await opened.call('rerun', { history: ids.get('for-agents'), ...(go && { go }) });
  };
  expect((await ask([], false)).text).toContain('nothing has run');
  await expect(ask([], true)).resolves.toMatchObject({ failed: true });
  expect((await ask(['--allow', 'rerun'], false)).text).toContain('nothing has run');
  expect(await framesOf('for-agents')).toBe(before);
  const { text, failed } = await ask(['--allow', 'rerun'], true);
  expect([failed, text]).toEqual([
    false,
    expect.stringContaining('same 3, bound 0, differs 0, missing 0 of 3'),
  ]);
  expect([asked, await framesOf('for-agents')]).toEqual([0, before + 1]);
});

/** Variables that are set. */
const textsOf = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

const framesOf = async (home: string): Promise<number> => {
  const opened = await openHome({ directory: join(directory, home) });
  const { histories } = await opened.read.listHistories({});
  await opened.close();
  return histories.reduce((sum, { frames }) => sum + frames, 0);
};

test.each([
  ['prompt', { PROMPT: 'You run a port.' }, '@c1', 'system'],
  ['parameters', { MODEL: 'n' }, '@c1', null],
  ['question', { WORLD: '1' }, '@c3', 'user'],
])('the first difference has its cause: %s', async (cause, changed, label, role) => {
  const home = `cause-${cause}`;
  await recorded(home, {});
  const ran = await again(home, changed, '--json');
  const [differing] = documentOf(ran).calls.filter(({ how }) => how === 'differs');
  expect([ran.code, differing?.['label'], asked]).toEqual([5, label, 0]);
  expect(differing?.['difference']).toMatchObject({ cause, role });
  // The error is one that no client repeats.
  expect(ran.stderr).toContain('HTTP 400 false');
});

test('a difference can be served, or go on with its provider in a fork', async () => {
  await recorded('live', {});
  const served = await again('live', { WORLD: '1' }, '--on-difference', 'serve', '--json');
  expect([served.code, documentOf(served)['differs'], asked]).toEqual([5, 1, 0]);
  const live = await again('live', { WORLD: '1' }, '--on-difference', 'live', '--name', 'nine');
  expect([live.code, asked]).toEqual([5, 1]);
  const id = ids.get('live') ?? '';
  expect(live.stdout).toContain(`stemma compare ${id} ${id}:nine`);
  const home = await openHome({ directory: join(directory, 'live') });
  const main = await home.find(id);
  const { attempts } = await home.calls.list(await home.find(`${id}:nine`));
  expect(attempts.map(({ label, branchId }) => [label, branchId === main.branchId])).toEqual([
    ['@c1', true],
    ['@c2', true],
    ['@c3', false],
  ]);
  expect((await home.calls.list(main)).attempts).toHaveLength(3);
  await home.close();
  const from = await again('live', {}, '--from', '@c2', '--name', 'late');
  expect([from.code, asked]).toEqual([0, 3]);
  expect((await run('live', ['verify'])).code).toBe(0);
});

test('an attempt that failed happens again, or is left out', async () => {
  await recorded('limited', { PROMPT: 'LIMITED' });
  const both = await again('limited', { PROMPT: 'LIMITED' });
  expect([both.code, asked]).toEqual([0, 0]);
  const answered = await again('limited', { PROMPT: 'LIMITED' }, '--errors', 'skip');
  expect([answered.code, asked]).toEqual([0, 0]);
});

test('what cannot be answered is refused before the command starts', async () => {
  const home = 'unknown';
  await recorded(home, {});
  const nothing = await run(home, ['rerun', ids.get(home) ?? '', '--run', 'no-such', '--', ...agent()]);
  expect([nothing.code, nothing.stdout]).toEqual([1, '']);
  const word = await again(home, {}, '--errors', 'some');
  expect([word.code, word.stdout]).toEqual([64, '']);
});

test('calls that people asked again are no part of the run that answers', async () => {
  const home = 'asked-again';
  expect((await run(home, ['record', '--history', 'shop', '--', ...agent()])).code).toBe(0);
  const key = { OPENAI_API_KEY: 'k' };
  expect((await run(home, ['retry', 'shop', '@c2', '--times', '2'], key)).code).toBe(0);
  asked = 0;
  const ran = await run(home, ['rerun', 'shop', '--', ...agent()]);
  expect([ran.code, asked]).toEqual([0, 0]);
  expect(ran.stdout).toContain('same 3, bound 0, differs 0, missing 0 of 3     exit 0');
});

test('of two runs into one history, the newest one answers, or the one that is named', async () => {
  const home = 'two-runs';
  for (const WORLD of ['', '1'])
    expect((await run(home, ['record', '--history', 'shop', '--', ...agent()], { WORLD })).code).toBe(0);
  const listed = await run(home, ['calls', 'shop', '--runs', '--json']);
  const { runs } = JSON.parse(listed.stdout) as {
    readonly runs: readonly { readonly run: string; readonly calls: number; readonly program: unknown }[];
  };
  expect(runs.map(({ calls, program }) => ({ calls, program }))).toEqual(
    [1, 2].map(() => ({
      calls: 3,
      program: expect.objectContaining({
        command: agent(),
        directory: process.cwd(),
        end: { exitCode: 0, signal: null },
        isRedacted: false,
        variables: expect.arrayContaining(['OPENAI_BASE_URL']) as unknown,
      }) as unknown,
    })),
  );
  asked = 0;
  const newest = await run(home, ['rerun', 'shop', '--', ...agent()], { WORLD: '1' });
  expect(newest.stdout).toContain('same 3, bound 0, differs 0, missing 0 of 3     exit 0');
  const first = await run(home, ['rerun', 'shop', '--run', runs[0]?.run ?? '', '--', ...agent()]);
  expect(first.stdout).toContain('same 3, bound 0, differs 0, missing 0 of 3     exit 0');
  expect([newest.code, first.code, asked]).toEqual([0, 0, 0]);
});

test('without a command the recorded one runs, in its directory, and each rerun is a fact', async () => {
  const home = 'recorded-command';
  const there = join(directory, 'there');
  mkdirSync(there);
  const cwd = process.cwd();
  const code = join(directory, 'code');
  writeFileSync(code, '3');
  const script = `${AGENT}
process.exit(Number(require('node:fs').readFileSync(${JSON.stringify(code)}, 'utf8')));`;
  writeFileSync(join(there, 'agent.cjs'), `(async () => {${script}})();`);
  const first = await runIn(there, home, [
    'record',
    '--history',
    'shop',
    '--',
    process.execPath,
    'agent.cjs',
  ]);
  expect([first.code, process.cwd()]).toEqual([3, cwd]);
  asked = 0;

  const same = await run(home, ['rerun', 'shop', '--notes', 'as it was', '--actor', 'eve']);
  expect([same.code, asked]).toEqual([0, 0]);
  expect(same.stderr).toContain(`agent.cjs in ${there}`);
  writeFileSync(code, '0');
  const other = await run(home, ['rerun', 'shop']);
  expect([other.code, asked]).toEqual([1, 0]);
  expect(other.stdout).toContain('the command ended with 0, and when it was recorded with 3');
  const differs = await run(home, ['rerun', 'shop', '--on-difference', 'serve'], { WORLD: '1' });
  expect(differs.code).toBe(5);

  const { reruns } = JSON.parse((await run(home, ['calls', 'shop', '--runs', '--json'])).stdout) as {
    readonly reruns: readonly Record<string, unknown>[];
  };
  expect(reruns.map(({ actor, notes, exit, end }) => ({ actor, notes, exit, end }))).toEqual([
    { actor: 'eve', notes: 'as it was', exit: 0, end: { exitCode: 3, signal: null } },
    { actor: 'ada', notes: '', exit: 1, end: { exitCode: 0, signal: null } },
    { actor: 'ada', notes: '', exit: 5, end: { exitCode: 0, signal: null } },
  ]);
  expect(reruns[2]).toMatchObject({
    directory: there,
    counts: { same: 2, differs: 1, missing: 0 },
    difference: { label: '@c3', cause: 'question' },
  });
  const listed = await run(home, ['interventions', 'shop', '--type', 'rerun']);
  expect(listed.stdout).toContain('same 3, exit 0');
  expect((await run(home, ['verify'])).code).toBe(0);

  rmSync(there, { recursive: true });
  const gone = await run(home, ['rerun', 'shop']);
  expect([gone.code, gone.stdout]).toEqual([64, '']);
  expect(gone.stderr).toContain('is not there');
});
