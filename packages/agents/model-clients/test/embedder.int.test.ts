import { sendJson, startModels, type ModelScript } from '@stemma/test-kit';
import { afterEach, expect, test } from 'vitest';
import { openEmbedder, openMind, parseEmbedder, type MindLimits } from '../src/index.ts';

const KEY = 'sk-secret-0123456789';
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const serve = async (script: ModelScript, limits: Partial<MindLimits> = {}) => {
  const server = await startModels(script);
  closing.push(() => server.close());
  const pauses: number[] = [];
  const embedder = openEmbedder(`openai:m@${server.url}/v1`, {
    env: { STEMMA_OPENAI_API_KEY: KEY },
    sleep: async (milliseconds) => void pauses.push(milliseconds),
    random: () => 0.5,
    limits,
  });
  return { server, embedder, pauses };
};

const { signal } = new AbortController();
const vectorOf = (text: string): number[] => [text.length, 0.1];
const vectors: ModelScript = ({ asked }, _n, outgoing) =>
  sendJson(outgoing, 200, {
    data: (asked?.['input'] as string[])
      .map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))
      // The order of the answer means nothing.
      .reverse(),
  });

test(
  'each text has its vector in single precision, whatever order they come in; the key is in a header alone',
  { tags: ['pool§6.6'] },
  async () => {
    const { server, embedder } = await serve(vectors);
    expect(await embedder.embed(['a', 'four'], null, signal)).toEqual([
      Float32Array.of(1, 0.1),
      Float32Array.of(4, 0.1),
    ]);
    const [call] = server.calls;
    expect(call?.path).toBe('/v1/embeddings');
    expect(call?.asked).toEqual({ model: 'm', input: ['a', 'four'], encoding_format: 'float' });
    expect(call?.rawHeaders.join('\n')).toContain(KEY);
    expect(JSON.stringify(embedder)).not.toContain(KEY);
  },
);

test('many texts are sent in several requests, and none where there is no text', async () => {
  const { server, embedder } = await serve(vectors);
  const texts = Array.from({ length: 150 }, (_, i) => 'x'.repeat(i));
  expect(await embedder.embed(texts, 2, signal)).toEqual(
    texts.map((text) => Float32Array.from(vectorOf(text))),
  );
  expect(server.calls.map(({ asked }) => (asked?.['input'] as string[]).length)).toEqual([64, 64, 22]);
  expect(await embedder.embed([], null, signal)).toEqual([]);
  expect(server.calls).toHaveLength(3);
});

const data =
  (...embeddings: readonly unknown[]): ModelScript =>
  (_call, _n, outgoing) =>
    sendJson(outgoing, 200, { data: embeddings.map((embedding, index) => ({ index, embedding })) });
const text =
  (body: string): ModelScript =>
  (_call, _n, outgoing) =>
    void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(body);
const endless: ModelScript = (_call, _n, outgoing) => {
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (outgoing.write('{"data":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}'));
  };
  outgoing.on('drain', more);
  more();
};

test.each<[string, ModelScript, string, Partial<MindLimits>?]>([
  ['sends too few vectors', data([1, 2]), 'E_EMBEDDING_INVALID'],
  ['sends too many vectors', data([1], [2], [3]), 'E_EMBEDDING_INVALID'],
  ['sends vectors of two dimensions', data([1, 2], [1]), 'E_EMBEDDING_INVALID'],
  ['sends another dimension than the pool has', data([1, 2, 3], [1, 2, 3]), 'E_EMBEDDING_INVALID'],
  ['sends empty vectors', data([], []), 'E_EMBEDDING_INVALID'],
  ['sends null for a number', data([1, null], [1, 2]), 'E_EMBEDDING_INVALID'],
  ['sends texts for numbers', data(['1', '2'], [1, 2]), 'E_EMBEDDING_INVALID'],
  ['sends base64', data('AACAPw==', 'AACAPw=='), 'E_EMBEDDING_INVALID'],
  [
    'sends a number beyond single precision',
    text('{"data":[{"embedding":[1,1e39]},{"embedding":[1,2]}]}'),
    'E_EMBEDDING_INVALID',
  ],
  [
    'sends a number beyond double precision',
    text('{"data":[{"embedding":[1,-1e400]},{"embedding":[1,2]}]}'),
    'E_EMBEDDING_INVALID',
  ],
  ['sends NaN', text('{"data":[{"embedding":[1,NaN]},{"embedding":[1,2]}]}'), 'E_EMBEDDING_INVALID'],
  [
    'names one text twice',
    text('{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}'),
    'E_EMBEDDING_INVALID',
  ],
  [
    'names a text that there is not',
    text('{"data":[{"index":7,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}'),
    'E_EMBEDDING_INVALID',
  ],
  ['sends garbage', text('\u0000<html>'), 'E_EMBEDDING_INVALID'],
  ['sends another shape', text('{"embeddings":[[1,2],[3,4]]}'), 'E_EMBEDDING_INVALID'],
  ['sends nothing', text(''), 'E_EMBEDDING_INVALID'],
  ['hangs', () => undefined, 'E_MIND_TIMEOUT', { firstByte: 50 }],
  ['drips', (_call, _n, outgoing) => void outgoing.write('{'), 'E_MIND_TIMEOUT', { whole: 80 }],
  ['never ends', endless, 'E_MIND_ANSWER_TOO_LARGE', { answer: 100_000 }],
  [
    'ends in the middle',
    (_call, _n, outgoing) => {
      outgoing.writeHead(200, { 'content-length': 50 });
      outgoing.write('{"data":', () => outgoing.destroy());
    },
    'E_MIND_UNREACHABLE',
  ],
  [
    'fails',
    (_call, _n, outgoing) => sendJson(outgoing, 500, { error: { message: 'out of order' } }),
    'E_MIND_FAILED',
  ],
  ['takes no more', (_call, _n, outgoing) => sendJson(outgoing, 429, {}), 'E_MIND_BUSY'],
  [
    'refuses',
    (_call, _n, outgoing) => sendJson(outgoing, 401, { error: { message: `bad key ${KEY}` } }),
    'E_MIND_REFUSED',
  ],
  [
    'redirects',
    (_call, _n, outgoing) => void outgoing.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
    'E_MIND_REFUSED',
  ],
])(
  'an endpoint that %s gives no vector, and a coded error without the key',
  async (_what, script, code, limits = {}) => {
    const { embedder } = await serve(script, { tries: 2, ...limits });
    const error = await embedder.embed(['one', 'two'], 2, signal).catch((each: unknown) => each);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toContain(KEY);
  },
);

test('a busy endpoint is asked again after the pause that it asks for, and then the doubled one', async () => {
  const { embedder, server, pauses } = await serve((call, n, outgoing, incoming) =>
    n === 1
      ? void outgoing.writeHead(429, { 'retry-after': '3' }).end('{}')
      : n === 2
        ? void outgoing.writeHead(503).end('{}')
        : vectors(call, n, outgoing, incoming),
  );
  expect(await embedder.embed(['a'], null, signal)).toHaveLength(1);
  expect(server.calls).toHaveLength(3);
  expect(pauses).toEqual([3_000, 750]);
});

test('who cancels gets E_CANCELLED at once', async () => {
  const { embedder } = await serve(() => undefined);
  const controller = new AbortController();
  const asked = embedder.embed(['a'], null, controller.signal);
  controller.abort();
  await expect(asked).rejects.toMatchObject({ code: 'E_CANCELLED' });
});

test('nothing listens: E_MIND_UNREACHABLE', async () => {
  const embedder = openEmbedder('openai:m@http://127.0.0.1:9/v1', { env: {}, limits: { tries: 1 } });
  await expect(embedder.embed(['a'], null, signal)).rejects.toMatchObject({ code: 'E_MIND_UNREACHABLE' });
});

test.each([
  'offline',
  'anthropic:m',
  'openai.responses:m',
  'openai:',
  'openai:m@ftp://x',
  'openai:m@http://u:p@x/',
  'nonsense',
  '',
])('%j names no embedder', (spec) => {
  expect(() => parseEmbedder(spec)).toThrow(expect.objectContaining({ code: 'E_EMBEDDER_INVALID' }) as Error);
});

test('a key goes to no address that is not encrypted', () => {
  expect(() =>
    openEmbedder('openai:m@http://example.org/v1', { env: { STEMMA_OPENAI_API_KEY: KEY } }),
  ).toThrow(expect.objectContaining({ code: 'E_MIND_INVALID' }) as Error);
});

test(
  'an embedder without an address is the one of its provider: a variable that other programs share sends no texts elsewhere',
  { tags: ['calls§6.8'] },
  async () => {
    const { server } = await serve(vectors);
    const opened = (spec: string, env: Record<string, string>) => openEmbedder(spec, { env });
    const shared = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: KEY };
    expect(() => opened('openai:m', shared)).toThrow(
      expect.objectContaining({
        code: 'E_MIND_ELSEWHERE',
        message: expect.stringContaining(
          `name it as openai:m@${server.url}/v1 or openai:m@https://api.openai.com/v1`,
        ) as string,
      }) as Error,
    );
    expect(server.calls).toEqual([]);
    for (const embedder of [
      opened(`openai:m@${server.url}/v1`, shared),
      opened('openai:m', { ...shared, STEMMA_UPSTREAM_OPENAI: `${server.url}/v1` }),
    ])
      expect(await embedder.embed(['a'], null, signal)).toHaveLength(1);
    expect(opened('openai:m', { OPENAI_API_KEY: KEY }).spec).toBe('openai:m');
  },
);

test('a server that wants a key, and got none as it is not the one of OpenAI, is told of with the variable that goes there', async () => {
  const { server } = await serve((_call, _n, outgoing) => sendJson(outgoing, 401, { error: 'no key' }));
  const spec = `openai:m@${server.url}/v1`;
  const embedder = openEmbedder(spec, { env: { OPENAI_API_KEY: KEY } });
  const withheld =
    'OPENAI_API_KEY was not sent, as it goes to https://api.openai.com only: STEMMA_OPENAI_API_KEY goes wherever a mind is';
  await expect(embedder.embed(['a'], null, signal)).rejects.toMatchObject({
    code: 'E_MIND_REFUSED',
    message: expect.stringContaining(withheld) as string,
  });
  const mind = openMind(spec, { env: { OPENAI_API_KEY: KEY } });
  expect(await mind.attempt(new TextEncoder().encode('{}'), signal)).toMatchObject({
    error: { code: 'E_MIND_REFUSED', message: expect.stringContaining(withheld) as string },
  });
  expect(JSON.stringify(server.calls)).not.toContain(KEY);
});
