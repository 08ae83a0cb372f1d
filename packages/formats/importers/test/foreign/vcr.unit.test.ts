import { parseWideJson } from '@stemma/canonical';
import { apiOf, readAnswer, readRequest } from '@stemma/model-apis';
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ForeignItem } from '../../src/foreign/item.ts';
import { vcr } from '../../src/foreign/vcr.ts';
import { exchangesIn, isRecognised, itemsOf, namedIn, survivesDamage } from './read-items.ts';

const CHAT = 'https://api.openai.com/v1/chat/completions';
const ASKED = '{"model":"m","messages":[{"role":"user","content":"How deep?"}]}';
const SAID =
  '{"id":"c1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"7 m"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}';

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** What stands in the wire forms of each exchange, bodies as texts. */
const wire = (items: readonly ForeignItem[]) =>
  exchangesIn(items).map(({ request, end, fidelity }) => {
    const response = end?.response;
    if (request.form !== 'wire') throw new Error('not of the wire');
    return {
      to: `${request.method} ${request.origin ?? ''}${request.path}`,
      asked: textOf(request.body),
      answered:
        response?.form === 'wire' ? [response.httpStatus, response.coding, textOf(response.body)] : null,
      status: end?.status,
      fidelity,
    };
  });

test('a cassette of VCR.py gives its calls byte by byte, and counts other requests by what they ask', async () => {
  const cassette = `interactions:
- request:
    body: '${ASKED}'
    headers:
      Content-Type:
      - application/json
    method: POST
    uri: ${CHAT}?api-version=1&key=secret
  response:
    body:
      string: '${SAID}'
    headers:
      Content-Type: [application/json]
      Content-Encoding: [gzip]
      Date: ['Tue, 01 Sep 2026 10:00:00 GMT']
    status: {code: 200, message: OK}
- request: {body: null, headers: {}, method: GET, uri: 'https://api.openai.com/v1/files/file-12345'}
  response: {body: {string: ''}, headers: {}, status: {code: 200, message: OK}}
- request: {body: null, headers: {}, method: GET, uri: 'https://api.openai.com/v1/files/file-67890'}
  response: {body: {string: ''}, headers: {}, status: {code: 200, message: OK}}
- request: {body: null, headers: {}, method: POST, uri: '${CHAT}'}
  response: {body: {string: '{}'}, headers: {}, status: {code: 200, message: OK}}
version: 1
`;
  const items = await itemsOf(vcr, cassette);
  expect(wire(items)).toEqual([
    {
      to: `POST ${CHAT}`,
      asked: ASKED,
      answered: [200, null, SAID],
      status: 'answered',
      fidelity: 'exact',
    },
  ]);
  expect(exchangesIn(items)[0]?.at).toBe(Date.parse('2026-09-01T10:00:00Z'));
  expect(namedIn(items)).toEqual({
    'request GET api.openai.com/v1/files/*': 2,
    'call without its request POST api.openai.com/v1/chat/completions': 1,
  });
  expect(JSON.stringify(items)).not.toContain('secret');
});

test('a host that the recorder hides leaves its path', async () => {
  const hidden = {
    request: { method: 'POST', uri: '<API_BASE>/chat/completions?x=1', body: ASKED, headers: {} },
    response: { status: { code: 200 }, headers: {}, body: { string: SAID } },
  };
  const items = await itemsOf(vcr, JSON.stringify({ interactions: [hidden], version: 1 }));
  expect(exchangesIn(items)).toMatchObject([{ request: { path: '/chat/completions', origin: null } }]);
});

test('bodies in base64 are as they came, in a coding or not', async () => {
  const packed = gzipSync(SAID).toString('base64');
  const interaction = (body: unknown, coding: string) => ({
    request: { method: 'POST', uri: CHAT, body: ASKED, headers: {} },
    response: { status: { code: 200 }, headers: { 'content-encoding': [coding] }, body },
  });
  const plain = Buffer.from(SAID).toString('base64');
  const json = JSON.stringify({
    version: 1,
    interactions: [
      interaction({ base64_string: packed }, 'gzip'),
      interaction({ base64_string: plain }, 'gzip'),
      interaction({ base64_string: 'no base64!' }, 'br'),
    ],
  });
  const [first, second, third] = exchangesIn(await itemsOf(vcr, json)).map(({ end }) => end?.response);
  expect(first).toMatchObject({ coding: 'gzip', body: new Uint8Array(gzipSync(SAID)) });
  expect(second).toMatchObject({ coding: null, body: new TextEncoder().encode(SAID) });
  expect(third).toBeNull();
  const yaml = `---
http_interactions:
- request:
    method: post
    uri: ${CHAT}
    body: {encoding: UTF-8, base64_string: !binary |-
      ${Buffer.from(ASKED).toString('base64')}}
    headers: {}
  response:
    status: {code: 200, message: OK}
    headers: {Content-Encoding: [gzip]}
    body: {encoding: ASCII-8BIT, string: !!binary ${packed}}
  recorded_at: Tue, 01 Sep 2026 10:00:00 GMT
recorded_with: VCR 6.2.0
`.replace('base64_string: !binary |-\n      ', 'base64_string: ');
  const items = await itemsOf(vcr, yaml);
  expect(items[0]).toEqual({ kind: 'version', version: 'VCR 6.2.0' });
  expect(exchangesIn(items)).toMatchObject([
    {
      at: Date.parse('2026-09-01T10:00:00Z'),
      request: { method: 'POST', body: new TextEncoder().encode(ASKED) },
      end: { response: { coding: 'gzip', body: new Uint8Array(gzipSync(SAID)) } },
    },
  ]);
});

test('a cassette of parsed bodies has the same values, and says that it has no bytes', async () => {
  const yaml = `interactions:
- request:
    method: POST
    headers: {content-type: [application/json]}
    parsed_body:
      messages: [{content: How deep?, role: user}]
      model: m
      y: 1
      on_hash: 688e1234
      temperature: 0.5
    uri: https://api.anthropic.com/v1/messages
  response:
    headers: {content-type: [application/json]}
    parsed_body: {type: error, error: {type: overloaded_error, message: Overloaded}}
    status: {code: 529, message: Overloaded}
version: 1
`;
  expect(wire(await itemsOf(vcr, yaml))).toEqual([
    {
      to: 'POST https://api.anthropic.com/v1/messages',
      asked:
        '{"messages":[{"content":"How deep?","role":"user"}],"model":"m","on_hash":"688e1234","temperature":0.5,"y":1}',
      answered: [529, null, '{"error":{"message":"Overloaded","type":"overloaded_error"},"type":"error"}'],
      status: 'failed',
      fidelity: 'same',
    },
  ]);
});

test('cassettes of go-vcr, of httpx stubs and of two lists are read', async () => {
  const go = `---
version: 2
interactions:
    - id: 0
      request:
        host: api.openai.com
        body: '${ASKED}'
        headers: {Content-Type: [application/json]}
        url: ${CHAT}
        method: POST
      response:
        body: '${SAID}'
        headers: {Content-Type: [application/json]}
        status: 200 OK
        code: 200
        duration: 1.25s
`;
  const items = await itemsOf(vcr, go);
  expect(wire(items)).toMatchObject([{ asked: ASKED, answered: [200, null, SAID], fidelity: 'exact' }]);
  expect(exchangesIn(items)[0]?.end?.durationMs).toBe(1250);
  const httpx = {
    request: { method: 'POST', uri: CHAT, body: ASKED, headers: {} },
    response: { status_code: 200, content: SAID, headers: {} },
  };
  expect(wire(await itemsOf(vcr, JSON.stringify({ version: 1, interactions: [httpx] })))).toMatchObject([
    { answered: [200, null, SAID] },
  ]);
  const lists = {
    requests: [httpx.request],
    responses: [{ status: { code: 200, message: 'OK' }, headers: {}, body: { string: SAID } }],
  };
  expect(wire(await itemsOf(vcr, stringify(lists)))).toMatchObject([
    { asked: ASKED, answered: [200, null, SAID] },
  ]);
});

const turn = fc.record({
  text: fc.string({ unit: 'binary', maxLength: 60 }).filter((text) => text.isWellFormed()),
  answer: fc.string({ maxLength: 40 }),
  input: fc.nat(100_000),
  output: fc.nat(10_000),
  api: fc.constantFrom('chat', 'messages'),
});

const bodiesOf = ({
  text,
  answer,
  input,
  output,
  api,
}: {
  text: string;
  answer: string;
  input: number;
  output: number;
  api: string;
}) => {
  const asked = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text }] });
  const said =
    api === 'chat'
      ? {
          id: 'c',
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
          usage: { prompt_tokens: input, completion_tokens: output },
        }
      : {
          id: 'c',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: answer }],
          stop_reason: 'end_turn',
          usage: { input_tokens: input, output_tokens: output },
        };
  const uri = api === 'chat' ? CHAT : 'https://api.anthropic.com/v1/messages';
  return { asked, said: JSON.stringify(said), uri };
};

test('cassettes that are made give the same bytes, questions, answers and tokens, in YAML and in JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), fc.boolean(), async (turns, isYaml) => {
      const bodies = turns.map(bodiesOf);
      const interactions = bodies.map(({ asked, said, uri }) => ({
        request: { method: 'POST', uri, body: asked, headers: { 'Content-Type': ['application/json'] } },
        response: {
          status: { code: 200, message: 'OK' },
          headers: { 'Content-Type': ['application/json'] },
          body: { string: said },
        },
      }));
      const cassette = { interactions, version: 1 };
      const text = isYaml ? stringify(cassette, { version: '1.1' }) : JSON.stringify(cassette);
      const found = exchangesIn(await itemsOf(vcr, text.replace(/^%YAML.*\n/, ''))).map(
        ({ request, end }) => {
          const response = end?.response;
          if (request.form !== 'wire' || response?.form !== 'wire') throw new Error('not of the wire');
          const api = apiOf(request.method, request.path);
          expect(readRequest(api, request.body, request.path)).toMatchObject({ ok: true, model: 'm' });
          const head = { status: response.httpStatus, contentType: response.contentType };
          const { usage } = readAnswer(api, head, response.body);
          return {
            asked: textOf(request.body),
            said: textOf(response.body),
            input: usage?.input,
            output: usage?.output,
          };
        },
      );
      expect(found).toEqual(
        turns.map(({ input, output }, at) => ({
          asked: bodies[at]?.asked,
          said: bodies[at]?.said,
          input,
          output,
        })),
      );
    }),
  );
});

test('a damaged cassette gives items or a coded error', async () => {
  const pair = {
    request: { method: 'POST', uri: CHAT, body: { string: ASKED }, headers: { a: ['b'] } },
    response: { status: { code: 200 }, headers: {}, body: { string: SAID } },
  };
  await survivesDamage(vcr, [{ version: 1, interactions: [pair, pair] }]);
});

test('a long cassette is read interaction by interaction', async () => {
  const asked = `{"model":"m","messages":[{"role":"user","content":"${'x'.repeat(100_000)}"}]}`;
  const one = (at: number, indent: string): string =>
    [
      `- request:`,
      `    body: '${asked}'`,
      `    headers: {}`,
      `    method: POST`,
      `    uri: ${CHAT}`,
      `  response:`,
      `    body:`,
      `      string: |-`,
      `        - not an item ${at}`,
      ``,
      `        version: 2`,
      `    headers: {}`,
      `    status: {code: 200, message: OK}`,
    ]
      .map((line) => indent + line)
      .join('\n');
  for (const [head, indent, tail] of [
    ['interactions:', '', 'version: 1\n'],
    ['---\nhttp_interactions:', '', 'recorded_with: VCR 6.0.0\n'],
    ['---\nversion: 2\ninteractions:', '    ', ''],
    ['---\nhttp_interactions:', '  ', ''],
  ] as const) {
    const text = `${head}\n${Array.from({ length: 50 }, (_, at) => one(at, indent)).join('\n')}\n${tail}`;
    const items = await itemsOf(vcr, text);
    const found = wire(items);
    expect(found.map(({ answered }) => answered?.[2])).toEqual(
      Array.from({ length: 50 }, (_, at) => `- not an item ${at}\n\nversion: 2`),
    );
    expect(new Set(exchangesIn(items).map(({ id }) => id)).size).toBe(50);
    expect(found[49]?.asked).toBe(asked);
  }
});

test('YAML that is cut off, repeats itself without end, or names a key twice is refused', async () => {
  const bomb = `version: 1\na: &a [x, x, x, x, x, x, x, x, x]\n${['b', 'c', 'd', 'e', 'f', 'g']
    .map((name, at) => `${name}: &${name} [${`*${'abcdefg'.charAt(at)}, `.repeat(9)}x]\n`)
    .join('')}`;
  for (const [text, code] of [
    ['interactions:\n- request: {body: "x', 'E_INPUT_NOT_JSON'],
    [bomb, 'E_INPUT_TOO_LARGE'],
    [`version: 1\nx: ${'['.repeat(1000)}${']'.repeat(1000)}`, 'E_INPUT_TOO_DEEP'],
    [`version: 1\nx: ${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'E_INPUT_TOO_DEEP'],
    ['version: 1\nversion: 2\n', 'E_INPUT_REPEATED_KEY'],
    ['version: 1\n__proto__: {a: 1}\n', 'E_INPUT_FORBIDDEN_KEY'],
  ] as const)
    await expect(isRecognised(vcr, text), text.slice(0, 40)).rejects.toMatchObject({ code });
  expect(await isRecognised(vcr, 'version: 1\nservices: {}\n')).toBe(false);
  expect(vcr.recognises(parseWideJson('{"interactions": [{"id": 1}]}'))).toBe(false);
});
