import { createClient } from '@stemma/api';
import { openHome } from '@stemma/home';
import { filesHolding, sendAnswer, startModels } from '@stemma/test-kit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAllowedMinds } from '@stemma/model-clients';
import { createGateway } from '../src/gateway.ts';

const KEY = 'sk-secret-of-the-gateway-0123';
const messages = [{ role: 'user', content: 'Is there a ship?' }];

const setUp = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-runs-'));
  const hanging: (() => void)[] = [];
  const models = await startModels((call, _n, outgoing) => {
    if (JSON.stringify(call.asked).includes('hang'))
      hanging.push(() => sendAnswer(call, outgoing, { text: 'Late.' }));
    // A server that shows what it was sent.
    else sendAnswer(call, outgoing, { text: `One ship. ${call.rawHeaders.join(' ')}` });
  });
  const home = await openHome({ directory: join(directory, 'home'), create: true });
  const mind = `openai:m-1@${models.url}`;
  const env = { STEMMA_OPENAI_API_KEY: KEY, STEMMA_MINDS: `${mind} openai:gpt-* offline` };
  const app = createGateway({ home, env });
  const client = createClient(async (url, init) => app.request(url, init), 'http://127.0.0.1');
  await client.start({ body: { id: 's', recorder: 'agent', name: 'talk' } });
  await client.recordCall({ history: 'talk', body: { id: 'c', recorder: 'agent', messages } });
  return {
    directory,
    home,
    models,
    mind,
    app,
    client,
    close: async () => {
      await home.close();
      await models.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

let open: Awaited<ReturnType<typeof setUp>>;
beforeAll(async () => {
  open = await setUp();
});
afterAll(() => open.close());

test(
  'a run over HTTP answers when it has ended, once for each id, and keeps the key of the server',
  { tags: ['calls§6.8', 'calls§6.9'] },
  async () => {
    const { client, mind, models, directory } = open;
    const body = { run: 'w1', actor: 'ann', notes: 'From afar.', mind };
    const answer = await client.continueBranch({ history: 'talk', body });
    expect(answer).toMatchObject({
      ended: 'done',
      forked: false,
      calls: [{ status: 'answered' }],
      error: null,
    });
    expect(JSON.stringify(answer)).toContain('One ship.');
    const again = await client.continueBranch({ history: 'talk', body });
    expect(again.position).toBe(answer.position);
    expect(models.calls).toHaveLength(1);
    expect(models.calls[0]?.rawHeaders.join(' ')).toContain(KEY);
    const asked = await client.retryCall({
      history: 'talk',
      body: { run: 'w2', actor: 'ann', call: '@c1', minds: [mind, 'offline'], set: { temperature: 0 } },
    });
    expect(asked.answers).toMatchObject([
      { name: 'retry-c1-w2-1', request: 'set' },
      { name: 'retry-c1-w2-2', mind: 'offline' },
    ]);
    expect(JSON.stringify([answer, asked, await client.attempts({ history: 'talk' })])).not.toContain(KEY);
    // Neither the log, nor a row, nor anything else of the home holds it.
    expect(filesHolding(directory, [KEY])).toEqual([]);
    expect(filesHolding(directory, ['One ship.'])).not.toEqual([]);
  },
);

test.each([
  ['openai:m-2', 'another model'],
  ['openai:gpt-x@http://127.0.0.1:9/v1', 'an address of its own'],
  ['anthropic:m', 'another provider'],
])('%s is not allowed over HTTP: %s', { tags: ['calls§6.9'] }, async (mind) => {
  const { client, home } = open;
  const { frames } = await client.history({ history: 'talk' });
  const asked = client.continueBranch({ history: 'talk', body: { run: 'x', actor: 'ann', at: '@c1', mind } });
  await expect(asked).rejects.toMatchObject({ code: 'E_MIND_NOT_ALLOWED' });
  expect((await home.read.history((await home.find('talk')).history)).frames).toBe(frames);
});

test('without STEMMA_MINDS only the offline mind may be asked over HTTP', { tags: ['calls§6.9'] }, () => {
  const allow = openAllowedMinds({});
  expect(() => allow('openai:gpt-x')).toThrow(
    expect.objectContaining({ code: 'E_MIND_NOT_ALLOWED' }) as Error,
  );
  allow('offline');
  const some = openAllowedMinds({ STEMMA_MINDS: 'openai:gpt-*,anthropic:c' });
  some('openai:gpt-x');
  expect(() => some('openai:gpt-x@https://a.example')).toThrow();
  expect(() => some('anthropic:cc')).toThrow();
});

test(
  'a client that goes, or a deadline, cancels what is under way, and the run goes on under its id',
  { tags: ['calls§6.9'] },
  async () => {
    const { client, app, mind, models, home } = open;
    const before = models.calls.length;
    const body = { run: 'w3', actor: 'ann', at: '@c1', mind, set: { user: 'hang' } };
    const gone = new AbortController();
    const pending = app.request('http://127.0.0.1/api/histories/talk/continue', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: gone.signal,
    });
    await expect.poll(() => models.calls.length).toBe(before + 1);
    await expect(client.continueBranch({ history: 'talk', body })).rejects.toMatchObject({ code: 'E_BUSY' });
    gone.abort();
    await Promise.resolve(pending).catch(() => undefined);
    const { history } = await home.find('talk');
    await expect.poll(async () => (await home.calls.find(history, 'w3.c1')).status).toBe('cancelled');
    const late = await client.continueBranch({ history: 'talk', body: { ...body, seconds: 1 } });
    expect(late).toMatchObject({ ended: 'cancelled', error: { code: 'E_CANCELLED' } });
    const { set: _set, ...plain } = body;
    expect(await client.continueBranch({ history: 'talk', body: plain })).toMatchObject({
      ended: 'done',
      forked: true,
    });
  },
);
