import { StemmaError } from '@stemma/errors';
import { expect, test } from 'vitest';
import { addressOf, createClient, ENDPOINTS } from '../src/index.ts';

const answering = (status: number, body: string) => {
  const asked: { url: string; method: string; body?: string }[] = [];
  const client = createClient(async (url, { method, body }) => {
    asked.push({ url, method, ...(body === undefined ? {} : { body }) });
    return { ok: status < 400, status, text: async () => body_(body) };
  }, 'http://127.0.0.1:4870');
  const body_ = (_: string | undefined): string => body;
  return { client, asked };
};

test('an address carries hostile ids and selectors percent-encoded', () => {
  expect(addressOf(ENDPOINTS.node, { history: 'a/b', node: '../x?#%', at: '@c3' })).toBe(
    '/api/histories/a%2Fb/nodes/..%2Fx%3F%23%25?at=%40c3',
  );
});

test('the client sends a command as JSON and keeps its integers exact', async () => {
  const { client, asked } = answering(503, '');
  await client
    .command({
      history: 'h',
      body: {
        id: 'c1',
        recorder: 'me',
        steps: [{ op: 'insert', parent: '^ah', node: { data_n: 2n ** 60n } }],
      },
    })
    .catch(() => undefined);
  expect(asked).toEqual([
    {
      url: 'http://127.0.0.1:4870/api/histories/h/commands',
      method: 'POST',
      body: '{"id":"c1","recorder":"me","steps":[{"op":"insert","parent":"^ah","node":{"data_n":1152921504606846976}}]}',
    },
  ]);
});

test('the client throws the error of the server with its code', async () => {
  const { client } = answering(
    404,
    '{"error":{"code":"E_SNAPSHOT_NOT_FOUND","message":"no @c99","help":"…","detail":{"cycle":99}}}',
  );
  await expect(client.tree({ history: 'h', at: '@c99' })).rejects.toEqual(
    new StemmaError('E_SNAPSHOT_NOT_FOUND', 'no @c99', { cycle: 99 }),
  );
});

test('an answer that does not match the contract is an error, never a value', async () => {
  for (const [status, body] of [
    [200, '<html>'],
    [200, '{"status":"fine"}'],
    [502, 'Bad gateway'],
  ] as const)
    await expect(answering(status, body).client.healthLive({})).rejects.toMatchObject({ code: 'E_INTERNAL' });
});

test('a request that gets no answer fails with E_IO', async () => {
  const client = createClient(() => Promise.reject(new TypeError('fetch failed')), '');
  await expect(client.healthLive({})).rejects.toMatchObject({ code: 'E_IO' });
});
