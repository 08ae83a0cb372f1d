import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRerunBench } from './rerun-agent.ts';

let bench: Awaited<ReturnType<typeof openRerunBench>>;
beforeAll(async () => {
  bench = await openRerunBench();
});
afterAll(() => bench.close());

/** Requests are changed in the form of their API, streams or not; answers are given in both forms of each. */
const FORMS = [
  { API: 'chat', STREAM: '0', changesRequests: true },
  { API: 'responses', STREAM: '1', changesRequests: true },
  { API: 'messages', STREAM: '1', changesRequests: true },
  { API: 'chat', STREAM: '1', changesRequests: false },
  { API: 'responses', STREAM: '0', changesRequests: false },
  { API: 'messages', STREAM: '0', changesRequests: false },
];

/** The short stage asks each question in one form. */
const tagsOf = (API: string, STREAM: string): { readonly tags: string[] } => ({
  tags: API === 'chat' && STREAM === '0' ? [] : ['long'],
});
const LONG = { tags: ['long'] };

describe.each(FORMS)('over $API, streams $STREAM', ({ API, STREAM, changesRequests }) => {
  const tagged = tagsOf(API, STREAM);
  const home = `${API}-${STREAM}`;
  const env = { API, STREAM };
  let shop: string;
  beforeAll(async () => {
    shop = await bench.record(home, env);
  });
  const hows = (calls: readonly { readonly [name: string]: unknown }[]): string[] =>
    calls.map(({ label, how }) => `${String(label)} ${String(how)}`);

  test('an agent that runs again is answered as it was', LONG, async () => {
    const { code, report, asked } = await bench.rerun(home, env);
    expect([code, report['same'], asked]).toEqual([0, 3, []]);
  });

  test('--answer answers a call, and the next one is live', tagged, async () => {
    const file = bench.file('answer.txt', 'It hails.');
    const { code, asked, report } = await bench.rerun(
      home,
      env,
      ...['--answer', `@c2=${file}`, '--name', 'hail'],
    );
    expect([code, hows(report.calls)]).toEqual([0, ['@c1 same']]);
    expect(asked.map((body) => body.includes('It hails.'))).toEqual([true]);
    const { stdout } = await bench.run(home, ['thread', `${shop}:hail`]);
    expect(stdout.match(/It hails\./g)).toHaveLength(1);
    await bench.inHome(home, async (opened) => {
      const { attempts } = await opened.calls.list(await opened.find(`${shop}:hail`));
      expect(attempts.map(({ label }) => label)).toEqual(['@c1', '@c2', '@c3']);
    });
  });

  test('--answer may call a tool', LONG, async () => {
    const call = {
      id: 'call_9x',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Bern"}' },
    };
    const file = bench.file(
      'answer.json',
      JSON.stringify({ role: 'assistant', content: null, tool_calls: [call] }),
    );
    const { code, asked } = await bench.rerun(home, env, '--answer', `@c1=${file}`, '--name', 'bern');
    expect([code, asked.length]).toEqual([0, 2]);
    expect(asked[0]).toContain('Bern');
    expect((await bench.run(home, ['verify'])).code).toBe(0);
  });

  if (!changesRequests) return;

  test('--set asks with another parameter from a call on', tagged, async () => {
    const { code, report, asked, stderr } = await bench.rerun(
      home,
      env,
      ...['--from', '@c2', '--set', 'temperature=0.5', '--set', 'top_p=null', '--name', 'cold'],
    );
    expect(stderr).not.toContain('could not');
    expect([code, hows(report.calls)]).toEqual([0, ['@c1 same']]);
    expect(asked.map((body) => (JSON.parse(body) as { temperature: unknown }).temperature)).toEqual([
      0.5, 0.5,
    ]);
    await bench.inHome(home, async (opened) => {
      const { attempts } = await opened.calls.list(await opened.find(`${shop}:cold`));
      expect(attempts.map(({ label }) => label)).toEqual(['@c1', '@c2', '@c3']);
      const { parameters, steered } = await opened.calls.find(shop, attempts[1]?.attemptId ?? '');
      expect([parameters, steered?.changes]).toMatchObject([{ temperature: 0.5 }, []]);
      const came = await opened.calls.body(shop, attempts[1]?.attemptId ?? '', 'came');
      expect(JSON.parse(Buffer.from(came).toString())).not.toHaveProperty('temperature');
    });
  });

  test('--edit changes the last message of a call, in the later ones too', tagged, async () => {
    const file = bench.file('result.txt', 'snow\n');
    const { code, asked, report } = await bench.rerun(
      home,
      env,
      ...['--edit', `@c2=${file}`, '--name', 'snow', '--notes', 'if it snowed'],
    );
    expect([code, hows(report.calls)]).toEqual([0, ['@c1 same']]);
    for (const body of asked)
      expect([body.includes('"snow"'), body.includes('21 degrees')]).toEqual([true, false]);
    const { stdout } = await bench.run(home, ['interventions', shop, '--json']);
    expect(stdout).toContain('if it snowed');
    expect((await bench.run(home, ['verify'])).code).toBe(0);
  });

  test('--inject adds a message, in the later ones too', LONG, async () => {
    const { code, asked, report } = await bench.rerun(
      home,
      env,
      ...['--inject', '@c3=Answer in French.', '--name', 'french'],
    );
    expect([code, hows(report.calls)]).toEqual([0, ['@c1 same', '@c2 same']]);
    expect(asked.map((body) => body.includes('Answer in French.'))).toEqual([true]);
  });
});

describe('what a question cannot be', () => {
  beforeAll(() => bench.record('refused').then(() => undefined));
  test.each([
    ['two questions', ['--from', '@c2', '--inject', '@c2=Hm.'], 'ask two questions: give one'],
    [
      'a call that is not recorded',
      ['--from', '@c9'],
      'the recorded run has no call "@c9"; its calls are @c1, @c2, @c3',
    ],
    ['a change of no call', ['--inject', 'Hm.'], 'it is --inject @c4=TEXT, not "Hm."'],
    [
      'settings of calls that are all served',
      ['--set', 'temperature=0'],
      'say from which one on, such as --from @c4',
    ],
    ['another way to read the answer', ['--from', '@c2', '--set', 'stream=true'], 'stream is not set'],
    ['a mind of another API', ['--from', '@c2', '--mind', 'anthropic:x'], 'name a mind of that API'],
    ['a mind without an address', ['--from', '@c2', '--mind', 'offline'], 'has no address'],
    [
      'an intervention that no call shows',
      ['--without', '@s1'],
      'no call of the run went out with what @s1 changed',
    ],
    ['a file that is not there', ['--answer', '@c1=no-such-file'], 'no-such-file'],
  ])('%s', async (_what, options, message) => {
    const { code, stdout, asked } = await bench.rerun('refused', {}, ...options);
    expect([code === 0, asked]).toEqual([false, []]);
    const { error } = JSON.parse(stdout) as { readonly error: { readonly message: string } };
    expect(error.message).toContain(message);
  });
});

test(
  '--mind asks another model at another address, and the key of the agent stays behind',
  LONG,
  async () => {
    const home = 'mind';
    const shop = await bench.record(home);
    const seen: {
      readonly key: string | undefined;
      readonly url: string | undefined;
      readonly model: string;
    }[] = [];
    const other = createServer((incoming, outgoing) => {
      const pieces: Buffer[] = [];
      incoming
        .on('data', (piece: Buffer) => pieces.push(piece))
        .on('end', () => {
          const { model } = JSON.parse(Buffer.concat(pieces).toString()) as { readonly model: string };
          seen.push({ key: incoming.headers.authorization, url: incoming.url, model });
          outgoing.writeHead(200, { 'content-type': 'application/json' });
          const message = { role: 'assistant', content: 'Rain.' };
          outgoing.end(JSON.stringify({ model, choices: [{ index: 0, message, finish_reason: 'stop' }] }));
        });
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`;
    const options = ['--from', '@c2', '--mind', `openai:grok@${url}`, '--name', 'grok'];
    const without = await bench.rerun(home, {}, ...options);
    const withKey = await bench.rerun(home, { STEMMA_OPENAI_API_KEY: 'everywhere' }, ...options.slice(0, 4));
    other.close();
    expect([without.code, withKey.code, without.asked, withKey.asked]).toEqual([0, 0, [], []]);
    const asked = { url: '/v1/chat/completions', model: 'grok' };
    expect(seen).toEqual([
      ...[1, 2].map(() => ({ ...asked, key: undefined })),
      ...[1, 2].map(() => ({ ...asked, key: 'Bearer everywhere' })),
    ]);
    await bench.inHome(home, async (opened) => {
      const { attempts } = await opened.calls.list(await opened.find(`${shop}:grok`));
      expect(attempts.map(({ model, origin }) => [model, origin === new URL(url).origin])).toEqual([
        ['m', false],
        ['grok', true],
        ['grok', true],
      ]);
    });
  },
);

test('from the first call on, a run goes on in a branch that begins anew', LONG, async () => {
  const home = 'first';
  const shop = await bench.record(home);
  const { code, asked } = await bench.rerun(home, {}, '--from', '@c1', '--name', 'anew');
  expect([code, asked.length]).toEqual([0, 3]);
  await bench.inHome(home, async (opened) => {
    const main = await opened.calls.list(await opened.find(shop));
    const { attempts } = await opened.calls.list(await opened.find(`${shop}:anew`));
    expect([main.attempts.length, attempts.map(({ label }) => label)]).toEqual([
      3,
      // A history may begin with its first call: the branch begins behind it.
      ['@c1', '@c2', '@c3', '@c4'],
    ]);
  });
  expect((await bench.run(home, ['verify'])).code).toBe(0);
});

test(
  '--without asks what the agent itself sends from the first call on that showed an intervention',
  LONG,
  async () => {
    const home = 'steered';
    for (const args of [
      ['start', '--name', 'shop'],
      ['steer', 'shop', 'on'],
      ['inject', 'shop', 'Speak as a sailor.', '--role', 'user'],
      ['record', '--history', 'shop', '--', ...bench.command],
    ])
      expect([args, await bench.run(home, args)]).toMatchObject([args, { code: 0 }]);
    bench.provider.take();
    bench.knows(home, 'shop');
    const same = await bench.rerun(home, {});
    expect([same.code, same.report['same'], same.asked]).toEqual([0, 3, []]);
    const { code, asked } = await bench.rerun(home, {}, '--without', '@s2', '--name', 'alone');
    expect([code, asked.map((body) => body.includes('sailor'))]).toEqual([0, [false, false, false]]);
  },
);
