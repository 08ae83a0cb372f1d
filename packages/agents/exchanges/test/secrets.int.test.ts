import { openHome, type Home } from '@stemma/home';
import { readAnswer } from '@stemma/model-apis';
import { filesHolding, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { recordExchange, type Exchange } from '../src/index.ts';
import { type Api, APIS, type Part, PARTS, PATHS, streamOf } from './streams.ts';

const RULES = { patterns: [{ name: 'hush', pattern: 'hush-[0-9a-z]{12,}' }], headers: ['x-session'] };

/** A secret, and a text that its rule finds it in. */
const SECRETS = {
  api_key: ['sk-ant-api03-Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7', (key: string) => `use ${key}, please`],
  aws_key_id: ['AKIA4Z7QX2M5K8N1P3RT', (key: string) => `it is ${key}.`],
  github_token: ['ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8', (key: string) => `→ ${key} 🔑`],
  hush: ['hush-3a5c7e9f1b2d4f6a', (key: string) => `say ${key}!`],
  header: ['vZ8tYw3kQm1', (key: string) => `{"x-session": "${key}"}`],
  credential: ['corr3ct-h0rse', (key: string) => `{"password":"${key}","n":1}`],
} as const;

const CODINGS = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => gzipSync(bytes),
  br: (bytes: Buffer) => brotliCompressSync(bytes),
  zstd: (bytes: Buffer) => zstdCompressSync(bytes),
};

/** How a text stands in a body. */
const FORMS = {
  plain: (text: string) => text,
  escaped: (text: string) =>
    text.replaceAll(/[^]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
} as const;

/** Where a secret stands in a request. */
const FIELDS = [
  'none',
  'message',
  'model',
  'user',
  'metadata',
  'tool',
  'run',
  'base64',
  'key',
  'twice',
] as const;

type Case = {
  readonly api: Api;
  readonly part: Part;
  readonly rule: keyof typeof SECRETS;
  readonly cuts: readonly number[];
  readonly end: string;
  readonly coding: keyof typeof CODINGS;
  readonly field: (typeof FIELDS)[number];
  readonly form: keyof typeof FORMS;
  readonly lost: number;
};

const anyCase: fc.Arbitrary<Case> = fc.record({
  api: fc.constantFrom(...APIS),
  part: fc.constantFrom(...PARTS),
  rule: fc.constantFrom(...(Object.keys(SECRETS) as (keyof typeof SECRETS)[])),
  cuts: fc.array(fc.nat(60), { maxLength: 12 }),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  coding: fc.constantFrom(...(Object.keys(CODINGS) as (keyof typeof CODINGS)[])),
  field: fc.constantFrom(...FIELDS),
  form: fc.constantFrom('plain', 'escaped'),
  lost: fc.oneof(fc.constant(0), fc.nat(200)),
});

const pieces = (text: string, cuts: readonly number[]): readonly string[] => {
  const places = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
    (a, b) => a - b,
  );
  return places.slice(1).map((to, i) => text.slice(places[i], to));
};

/** A request with a secret in a field; the text of its JSON is given by whoever writes escapes or a name twice. */
const requestOf = ({ api, field, rule, form }: Case): string => {
  const [secret, around] = SECRETS[rule];
  const text = around(secret);
  const body = {
    model: field === 'model' ? text : 'm',
    stream: true,
    ...(api === 'anthropic.messages' ? { max_tokens: 9 } : {}),
    ...(field === 'user' ? { user: text } : {}),
    ...(field === 'metadata' ? { metadata: { note: text } } : {}),
    ...(field === 'tool'
      ? { tools: [{ type: 'function', name: 't', function: { name: 't', description: text } }] }
      : {}),
    [api === 'openai.responses' ? 'input' : 'messages']: [
      {
        role: 'user',
        content:
          field === 'message'
            ? text
            : field === 'base64'
              ? `file: ${Buffer.from(text.repeat(3)).toString('base64')}`
              : 'Hi',
        ...(field === 'key' ? { [text]: 1 } : {}),
      },
    ],
  };
  const json = JSON.stringify(body).replaceAll(secret, form === 'escaped' ? FORMS.escaped(secret) : secret);
  return field === 'twice' ? json.replace('{', `{"user":${JSON.stringify(text)},"user":"x",`) : json;
};

const exchangeOf = (at: Case, id: string): Exchange => {
  const { api, part, rule, cuts, coding, field, lost, form } = at;
  const [secret, around] = SECRETS[rule];
  const text =
    form === 'escaped' && part === 'arguments' ? escapedArguments(secret, around(secret)) : around(secret);
  const stream = streamOf(api, part, pieces(text, cuts)).replaceAll('\n', at.end);
  const whole = Buffer.from(stream);
  return {
    ...{ id, by: { recorder: 'proxy' } },
    scope: field === 'run' ? { run: around(secret) } : null,
    request: {
      form: 'wire',
      method: 'POST',
      path: PATHS[api],
      coding,
      body: CODINGS[coding](Buffer.from(requestOf(at))),
    },
    end: {
      ...{
        status: lost > 0 ? 'cancelled' : 'answered',
        firstByteMs: 1,
        durationMs: 2,
        error: { code: null, message: text },
      },
      response: {
        ...{ form: 'wire', httpStatus: 200, contentType: 'text/event-stream', coding },
        body: CODINGS[coding](whole.subarray(0, Math.max(0, whole.length - lost))),
      },
    },
  };
};

/** Arguments whose JSON has the secret behind escapes. */
const escapedArguments = (secret: string, text: string): string =>
  JSON.stringify(text.startsWith('{') ? (JSON.parse(text) as object) : { text }).replace(
    secret,
    FORMS.escaped(secret),
  );

/** All that a body says: as it stands, put together by each API's reader, and all of its texts one after the other. */
const saidBy = (body: Uint8Array): string => {
  const text = Buffer.from(body).toString();
  const answers = APIS.map((api) => readAnswer(api, { status: 200, contentType: null }, body));
  const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"/gu)].map(([json]) => {
    try {
      return JSON.parse(json) as string;
    } catch {
      return json;
    }
  });
  const deltas = [
    ...text.matchAll(
      /"(?:content|text|thinking|reasoning_content|partial_json|arguments|delta)":\s*("(?:[^"\\]|\\.)*")/gu,
    ),
  ];
  return [
    text,
    JSON.stringify(answers),
    strings.join(''),
    deltas.map(([, json]) => JSON.parse(json ?? '""') as string).join(''),
  ].join('\n');
};

/** A text with the escapes in it undone, as often as there are some. */
const views = (text: string): readonly string[] => {
  const all = [text];
  for (let n = 0; n < 4; n++)
    all.push(
      (all.at(-1) ?? '')
        .replaceAll(/\\u([0-9a-f]{4})/giu, (_, code: string) =>
          String.fromCharCode(Number.parseInt(code, 16)),
        )
        .replaceAll(/\\(["\\/])/gu, '$1'),
    );
  return all;
};

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'bigint'
      ? String(each)
      : each instanceof Uint8Array
        ? Buffer.from(each).toString()
        : each,
  );

/** Everything that a home gives back of its calls. */
const givenBack = async (home: Home): Promise<string> => {
  const said: string[] = [];
  for (const { history, name } of await home.read.histories()) {
    said.push(name ?? '', textOf(await home.read.events(history, { limit: 10_000 })));
    for (const attempt of (await home.calls.list(await home.find(history))).attempts) {
      said.push(textOf(attempt));
      for (const which of ['request', 'response'] as const)
        try {
          said.push(saidBy(await home.calls.body(history, attempt.attemptId, which)));
        } catch (error) {
          expect(error).toMatchObject({ code: 'E_CALL_BODY_NOT_KEPT' });
        }
    }
  }
  return said.join('\n');
};

test(
  'no byte of a home has a secret of a call, however its texts are cut, coded, escaped and named',
  { tags: ['calls§2.4'], timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCase, { minLength: 8, maxLength: 8 }), async (cases) => {
        const folder = mkdtempSync(join(tmpdir(), 'stemma-secrets-'));
        try {
          const directory = join(folder, 'home');
          const home = await openHome({ directory, create: true, redact: RULES });
          for (const [i, each] of cases.entries()) await recordExchange(home, exchangeOf(each, `call-${i}`));
          await home.queries.search.find({ text: 'hush' });
          const said = views(await givenBack(home));
          expect(await home.calls.locate('call-0')).toBeDefined();
          expect((await home.operations.verify()).problems).toEqual([]);
          await home.close();
          const secrets = [...new Set(cases.map(({ rule }) => SECRETS[rule][0]))];
          for (const secret of secrets) {
            for (const view of said) expect(around(view, secret)).toBe('');
            expect(filesHolding(folder, [secret, FORMS.escaped(secret)])).toEqual([]);
          }
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      }),
      { numRuns: sized(2, 8) },
    );
  },
);

test('doctor finds keys that were cut into the events of streams where nothing takes them out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stemma-secrets-'));
  try {
    const home = await openHome({ directory: join(folder, 'home'), create: true });
    const told = {
      rule: 'github_token',
      cuts: [9, 17, 30],
      end: '\n',
      coding: 'gzip',
      form: 'plain',
    } as const;
    for (const api of APIS)
      await recordExchange(
        home,
        exchangeOf({ ...told, api, part: 'text', field: 'none', lost: 0 }, `call-${api}`),
      );
    const { findings } = await home.operations.doctor('all');
    const warnings = findings.filter(({ message }) => message.includes('look like secrets'));
    expect(warnings.length).toBeGreaterThan(0);
    const counted = warnings.flatMap(({ message }) => [
      ...message.matchAll(/(\d+) × GitHub or GitLab token/g),
    ]);
    expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBeGreaterThanOrEqual(APIS.length);
    expect(JSON.stringify(findings)).not.toContain('ghp_a1B2');
    await home.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Where a text is in another one; nothing if it is not there. */
const around = (text: string, part: string): string => {
  const at = text.indexOf(part);
  return at === -1 ? '' : text.slice(Math.max(0, at - 200), at + part.length + 50);
};
