import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { har, polly } from '../../src/foreign/har.ts';
import { exchangesIn, isRecognised, itemsOf, namedIn, survivesDamage } from './read-items.ts';

const ASKED = '{"model":"m","messages":[{"role":"user","content":"How deep?"}]}';
const SAID = '{"choices":[{"message":{"role":"assistant","content":"7 m — π"}}]}';

const entry = (url: string, content: object, response: object = {}) => ({
  startedDateTime: '2026-09-01T12:00:00.250+02:00',
  time: 100.4,
  timings: { send: 1, wait: 40.2, receive: 59 },
  request: {
    method: 'POST',
    url,
    headers: [{ name: 'Content-Type', value: 'application/json' }],
    postData: { mimeType: 'application/json', text: ASKED },
  },
  response: { status: 200, headers: [], content: { mimeType: 'application/json', ...content }, ...response },
});

const archive = (entries: readonly object[], log: object = {}): string =>
  JSON.stringify({ log: { version: '1.2', creator: { name: 'x', version: '1' }, entries, ...log } });

const CHAT = 'https://api.openai.com/v1/chat/completions';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('an archive gives its calls byte by byte, with their times', async () => {
  const items = await itemsOf(
    har,
    archive([
      entry(`${CHAT}?key=secret`, { text: SAID, size: 9 }),
      entry(
        CHAT,
        { text: Buffer.from(SAID).toString('base64'), encoding: 'base64' },
        { headers: [{ name: 'content-encoding', value: 'gzip' }] },
      ),
      {
        ...entry('wss://api.openai.com/v1/responses', {}),
        request: { method: 'GET', url: 'wss://api.openai.com/v1/responses', headers: [] },
        _webSocketMessages: [{}, {}],
      },
      entry(CHAT, { size: 10 }),
      { ...entry(CHAT, { text: '' }), response: { status: 0, headers: [], content: {} } },
      entry('not an address', {}),
    ]),
  );
  expect(items[0]).toEqual({ kind: 'version', version: 'x 1' });
  expect(exchangesIn(items)).toEqual([
    {
      kind: 'exchange',
      id: 'e0',
      at: Date.parse('2026-09-01T10:00:00.250Z'),
      request: {
        form: 'wire',
        method: 'POST',
        path: '/v1/chat/completions',
        origin: 'https://api.openai.com',
        contentType: 'application/json',
        coding: null,
        body: bytes(ASKED),
      },
      end: {
        status: 'answered',
        durationMs: 100,
        firstByteMs: 41,
        error: null,
        response: {
          form: 'wire',
          httpStatus: 200,
          contentType: 'application/json',
          coding: null,
          body: bytes(SAID),
        },
      },
      fidelity: 'exact',
    },
    expect.objectContaining({
      id: 'e1',
      end: expect.objectContaining({
        response: expect.objectContaining({ coding: null, body: bytes(SAID) }),
      }),
    }),
    expect.objectContaining({ id: 'e3' }),
    expect.objectContaining({ id: 'e4', end: expect.objectContaining({ status: 'failed', response: null }) }),
  ]);
  expect(namedIn(items)).toEqual({
    'websocket message': 2,
    'request GET api.openai.com/v1/responses': 1,
    W_CONTENT_LOST: 1,
    'request POST without an address': 1,
  });
  expect(await isRecognised(polly, archive([]))).toBe(false);
});

test('a recording of Polly.js has its bodies in chunks of hex or base64', async () => {
  const packed = gzipSync(SAID);
  const coded = { headers: [{ name: 'content-encoding', value: 'gzip' }] };
  const half = packed.length >> 1;
  const chunks = (coding: 'hex' | 'base64') =>
    JSON.stringify([packed.subarray(0, half).toString(coding), packed.subarray(half).toString(coding)]);
  const log = { _recordingName: 'a chat', creator: { name: 'Polly.JS', version: '6.0.5' } };
  const text = archive(
    [
      entry(CHAT, { text: chunks('hex'), _isBinary: true }, coded),
      entry(CHAT, { text: chunks('base64'), encoding: 'base64' }, coded),
      entry(CHAT, { text: SAID }),
    ],
    log,
  );
  const items = await itemsOf(polly, text);
  expect(items[0]).toEqual({ kind: 'version', version: 'Polly.JS 6.0.5' });
  const response = { coding: 'gzip', body: new Uint8Array(packed) };
  expect(exchangesIn(items)).toMatchObject([
    { end: { response } },
    { end: { response } },
    { end: { response: { coding: null, body: bytes(SAID) } } },
  ]);
  expect(await isRecognised(har, text)).toBe(false);
});

test('archives that are made give the same bytes back', async () => {
  const body = fc.string({ unit: 'binary', maxLength: 80 }).filter((text) => text.isWellFormed());
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(body, body, fc.boolean()), { minLength: 1, maxLength: 6 }),
      async (pairs) => {
        const entries = pairs.map(([asked, said, isBytes]) => {
          const made = entry(
            CHAT,
            isBytes ? { text: Buffer.from(said).toString('base64'), encoding: 'base64' } : { text: said },
          );
          return {
            ...made,
            request: {
              ...made.request,
              postData: { mimeType: 'application/json', text: `{"q": ${JSON.stringify(asked)}}` },
            },
          };
        });
        const found = exchangesIn(await itemsOf(har, archive(entries))).map(({ request, end }) =>
          request.form === 'wire' && end?.response?.form === 'wire'
            ? [request.body, end.response.body]
            : null,
        );
        expect(found).toEqual(
          pairs.map(([asked, said]) => [bytes(`{"q": ${JSON.stringify(asked)}}`), bytes(said)]),
        );
      },
    ),
  );
});

test('a damaged archive gives items or a coded error', async () => {
  const document = {
    log: {
      version: '1.2',
      creator: { name: 'x' },
      entries: [entry(CHAT, { text: SAID }), entry(CHAT, { text: '["zz"]', encoding: 'base64' })],
    },
  };
  await survivesDamage(har, [document]);
});
