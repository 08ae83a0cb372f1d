import type { WideJsonObject } from '@stemma/canonical';
import { parseCommand, type Command } from '@stemma/history';
import { FAKE_SECRETS } from '@stemma/test-kit';
import fc from 'fast-check';
import { describe, expect, it, test, vi } from 'vitest';
import { openRedactor, SECRET_KINDS, type RedactorOptions } from '../src/index.ts';

const insert = (node: WideJsonObject, more: Partial<Command> = {}): Command => ({
  ...parseCommand({
    ...{ id: 'c1', history: 'h', branchId: 0, by: { recorder: 'agent' } },
    steps: [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb', ...node } }],
  }),
  ...more,
});
const nodeOf = ({ steps: [step] }: Command): WideJsonObject => {
  if (step?.op !== 'insert') throw new Error('no insertion');
  return step.node;
};
const contentAfter = async (content: WideJsonObject[string], rules: RedactorOptions = {}) =>
  nodeOf(await openRedactor(rules).command(insert({ content })))['content'];

const [, OPENAI = ''] = FAKE_SECRETS.find(([name]) => name === 'OpenAI') ?? [];

describe('redaction', () => {
  it.each(FAKE_SECRETS)('%s is redacted completely, wherever it is', async (_name, text, secret) => {
    const tail = secret.slice(-8);
    for (const content of [
      text,
      `before ${text} after`,
      `${'x '.repeat(500)}${text}`,
      `a\r\n${text}\rb`,
      `("${text}")`,
      JSON.stringify({ a: [text] }),
      JSON.stringify({ a: JSON.stringify({ b: text }) }),
      { deep: [{ a: text }] },
      { [text]: 1 },
      `log: ${JSON.stringify({ a: [text] })}`,
    ]) {
      const left = JSON.stringify(await contentAfter(content));
      expect(left).toContain('[redacted:');
      expect(left).not.toContain(tail.replaceAll('"', '\\"'));
      expect(left).not.toContain(secret.slice(0, 12));
    }
  });

  test('redacting a redacted text again changes nothing and counts nothing', async () => {
    const redactor = openRedactor({
      headers: ['x-session'],
      patterns: [{ name: 'badge', pattern: 'B-\\d{6}' }],
    });
    const word = fc.constantFrom(
      ...FAKE_SECRETS.map(([, text]) => text),
      ...[
        'B-123456',
        'x-session: abc def',
        'api_key',
        'password',
        ': ',
        '="',
        '"',
        '\\"',
        '{',
        '}',
        ' ',
        '\n',
      ],
      ...['[redacted:api_key]', '[redacted:badge#0123456789ab]', 'Authorization', 'bearer', '://a:', '@'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 12 }), async (words) => {
        const once = await redactor.command(insert({ content: words.join(''), data_x: words }));
        const twice = await redactor.command({ ...once });
        expect(nodeOf(twice)).toEqual(nodeOf(once));
        expect(twice.redactions).toEqual(once.redactions);
      }),
      { seed: 7 },
    );
  });

  test('the value of a name such as `password` is a secret whatever it is, in objects, pairs and JSON in texts', async () => {
    expect(await contentAfter({ password: 'a b', note: 'a b', api_key: 12, api_keys: { a: 1 } })).toEqual({
      ...{
        password: '[redacted:credential]',
        note: 'a b',
        api_key: '[redacted:api_key]',
        api_keys: { a: 1 },
      },
    });
    expect(await contentAfter([['Authorization', 'a b'], { name: 'authorization', value: 'x' }])).toEqual([
      ['Authorization', '[redacted:authorization]'],
      { name: 'authorization', value: '[redacted:authorization]' },
    ]);
    expect(await contentAfter('{"passw\\u006frd":"a b"}')).toBe('{"password":"[redacted:credential]"}');
  });

  test('rules of the user: patterns with a group, fields with *, headers, numbers', async () => {
    const rules = {
      kinds: [],
      patterns: [
        { name: 'badge', pattern: 'badge (\\w+)' },
        { name: 'card', pattern: '\\b\\d{16}\\b' },
      ],
      fields: ['/content/*/pin', '/data_who'],
      headers: ['X-Session'],
    };
    const content = [
      { pin: 7, text: 'badge abc and badge def, 4111111111111111', n: 4_111_111_111_111_111 },
      'X-Session: qwertz\nrest',
      { 'x-session': ['qwertz'] },
    ];
    const done = await openRedactor(rules).command(insert({ content, data_who: { a: 1 } }));
    expect(nodeOf(done)).toMatchObject({
      content: [
        {
          pin: '[redacted:pin]',
          text: 'badge [redacted:badge] and badge [redacted:badge], [redacted:card]',
          n: '[redacted:card]',
        },
        'X-Session: [redacted:x-session]\nrest',
        { 'x-session': '[redacted:x-session]' },
      ],
      data_who: '[redacted:data_who]',
    });
    expect(done.redactions).toEqual([
      { step: 0, node: 0, field: 'content', rule: 'pin', count: 1 },
      { step: 0, node: 0, field: 'content', rule: 'badge', count: 2 },
      { step: 0, node: 0, field: 'content', rule: 'card', count: 2 },
      { step: 0, node: 0, field: 'content', rule: 'x-session', count: 2 },
      { step: 0, node: 0, field: 'data_who', rule: 'data_who', count: 1 },
    ]);
  });

  test('a pattern on which a backtracking engine never ends is matched in linear time', async () => {
    const rules = { kinds: [], patterns: [{ name: 'evil', pattern: '(a+)+$' }] };
    expect(await contentAfter(`${'a'.repeat(50_000)}!`, rules)).toHaveLength(50_001);
  });

  it.each([
    'sk-'.repeat(100_000),
    ' eyJ'.repeat(80_000),
    `password="${'\\'.repeat(200_000)}`,
    'api_key: '.repeat(40_000),
    '-----begin '.repeat(30_000),
    `{"a":${'['.repeat(300)}`,
  ])('the time to find each kind of secret grows linearly with the text (%#)', async (text) => {
    const started = performance.now();
    await contentAfter(text);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('labels are equal for equal secrets, and only under the key of one home', async () => {
    const a = { labels: true, labelKey: new Uint8Array(32).fill(1) };
    const b = { labels: true, labelKey: new Uint8Array(32).fill(2) };
    const one = await contentAfter(OPENAI, a);
    expect(one).toMatch(/^\[redacted:api_key#[0-9a-f]{12}\]$/);
    expect(await contentAfter(`x ${OPENAI}`, a)).toBe(`x ${one as string}`);
    expect(await contentAfter(OPENAI, b)).not.toBe(one);
    expect(await contentAfter(`${OPENAI}x`, a)).not.toBe(one);
    expect(() => openRedactor({ labels: true })).toThrow(/labels need a key/);
  });

  test('a redaction function of the user gets the text after the rules; if it fails, the command is refused without the text of its error', async () => {
    const seen: string[] = [];
    const rules: RedactorOptions = {
      function: (text, { field, path }) => {
        seen.push(`${field} ${path.join('/')} ${text}`);
        return Promise.resolve(text.replace('Ada', 'A.'));
      },
    };
    const done = await openRedactor(rules).command(insert({ content: { who: ['Ada', OPENAI] } }));
    expect(seen).toEqual(['content content/who/0 Ada', 'content content/who/1 [redacted:api_key]']);
    expect(nodeOf(done)['content']).toEqual({ who: ['A.', '[redacted:api_key]'] });
    expect(done.redactions).toContainEqual({
      step: 0,
      node: 0,
      field: 'content',
      rule: 'function',
      count: 1,
    });

    for (const failing of [() => Promise.reject(new Error(OPENAI)), () => 7 as never]) {
      const error: unknown = await openRedactor({ function: failing })
        .command(insert({ content: 'x' }))
        .catch((raised: unknown) => raised);
      expect(error).toMatchObject({ code: 'E_REDACTION_FAILED' });
      expect(String(error)).not.toContain(OPENAI);
    }
  });

  test('a secret in a name or an id is refused, and not repeated', async () => {
    const commands: Command[] = [
      insert({ id: OPENAI }),
      insert({ key: OPENAI }),
      insert({ [`data_${OPENAI}`]: 1 }),
      insert({}, { id: OPENAI }),
      insert({}, { by: { actor: OPENAI } }),
      insert({}, { steps: [{ op: 'name', name: OPENAI }] }),
      insert({}, { steps: [{ op: 'start', name: OPENAI }] }),
      insert({}, { steps: [{ op: 'fork', name: OPENAI }] }),
      insert({}, { steps: [{ op: 'config', set: { [OPENAI]: 1 } }] }),
    ];
    for (const command of commands) {
      const error: unknown = await openRedactor({})
        .command(command)
        .catch((raised: unknown) => raised);
      expect(error).toMatchObject({ code: 'E_REDACTION_REFUSED' });
      expect(JSON.stringify(error) + String(error)).not.toContain(OPENAI);
    }
  });

  test('every kind of step is searched for secrets', async () => {
    const at = { branchId: 0, seq: 0 };
    const steps: Command['steps'] = [
      {
        op: 'insert',
        parent: 'p',
        node: { nodeType: 'mc', children: [{ nodeType: 'cb', content: OPENAI }] },
        siblings: [{ nodeType: 'cb', content: OPENAI }],
      },
      { op: 'replace', id: 'n', set: { content: OPENAI } },
      { op: 'annotate', note: OPENAI },
      { op: 'save', description: OPENAI },
      { op: 'config', set: { key: OPENAI } },
      { op: 'fork', description: OPENAI },
      { op: 'rollback', to: at, description: OPENAI },
      { op: 'inject', text: OPENAI, source: OPENAI },
      { op: 'query', question: OPENAI, answer: { a: OPENAI }, mind: OPENAI },
      {
        op: 'observe',
        observations: [{ kind: 'searched', what: OPENAI, at, times: 1, first_at: 0n, last_at: 0n }],
      },
      {
        op: 'import',
        name: null,
        export: JSON.stringify({ root: { id: 'root', children: [{ id: 'x', content: OPENAI }] } }),
      },
    ];
    const done = await openRedactor({}).command(insert({}, { steps, notes: OPENAI }));
    expect(
      JSON.stringify(done, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value)),
    ).not.toContain(OPENAI);
    expect(done.redactions?.map(({ step, node, field }) => [step, node, field])).toEqual([
      [0, 1, 'content'],
      [0, 2, 'content'],
      [1, 'n', 'content'],
      [2, null, 'note'],
      [3, null, 'description'],
      [4, null, 'key'],
      [5, null, 'description'],
      [6, null, 'description'],
      [7, 0, 'content'],
      [7, 0, 'data_source'],
      ...['question', 'answer', 'mind'].map((field) => [8, null, field]),
      [9, null, 'what'],
      [10, 'x', 'content'],
      [null, null, 'notes'],
    ]);
  });

  const lines = (text: string, width: number, end: string): string =>
    (text.match(new RegExp(`.{1,${width}}`, 'gu')) ?? []).join(end);
  const hex = (text: string): string => Buffer.from(text).toString('hex');
  const pairs = (text: string): string => hex(text).replaceAll(/..(?!$)/gu, '$& ');
  const percent = (text: string): string => hex(text).replaceAll(/../gu, '%$&');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  test.each<[string, (text: string) => string]>([
    ['hex', hex],
    ['hex in capitals', (text) => hex(text).toUpperCase()],
    ['hex behind a digit', (text) => `0${hex(text)}`],
    ['hex as pairs', pairs],
    ['hex as escapes', (text) => hex(text).replaceAll(/../gu, '\\x$&')],
    ['percents', percent],
    ['percents in percents', (text) => percent(percent(text))],
    ['some percents', (text) => text.replaceAll(/[-_a]/gu, percent)],
    ['base64 in lines', (text) => lines(base64(`{"a":1,"key":"${text}"}`), 24, '\r\n')],
    ['base64 in indented lines', (text) => lines(base64(`a file with ${text} in it`), 20, '\n  ')],
    ['base64 in lines of JSON', (text) => lines(base64(`a file with ${text} in it`), 20, '\\n')],
    ['hex in lines', (text) => lines(hex(text), 20, '\n')],
    ['hex in base64', (text) => base64(hex(text))],
    ['base64 in hex', (text) => hex(base64(text))],
    ['base64 in base64 in base64', (text) => base64(base64(base64(text)))],
    ['hex in base64 in lines in base64', (text) => base64(lines(base64(hex(text)), 76, '\r\n'))],
    ['percents in JSON in base64', (text) => base64(JSON.stringify({ a: [percent(text)] }))],
    [
      'base64 in lines in JSON in base64',
      (text) => base64(JSON.stringify({ a: lines(base64(text), 24, '\n') })),
    ],
    ['escapes of JSON in base64', (text) => base64(`{"a":"${hex(text).replaceAll(/../gu, '\\u00$&')}"}`)],
    ['base64 in percents', (text) => percent(base64(text))],
    ['hex in percents in base64 in percents', (text) => percent(base64(percent(hex(text))))],
  ])('a secret in %s is found, and what is beside it stays', (_, encode) => {
    const redactor = openRedactor({});
    for (const [, , secret] of FAKE_SECRETS.filter(([, text, whole]) => text === whole)) {
      const coded = encode(secret);
      const done = redactor.text(`see: ${coded} ; the rest`);
      expect(done).toMatch(/^see: \S*\[redacted:[a-z_]+\]\S* ; the rest$/u);
      for (const part of [secret, coded.slice(4, -4)]) expect(done).not.toContain(part);
    }
  });

  test('how often a text is decoded is bounded, however many codings are in each other', () => {
    const redactor = openRedactor({});
    const decodings = vi.spyOn(TextDecoder.prototype, 'decode');
    try {
      let text = 'The quick brown fox jumps over the lazy dog.';
      for (let level = 0; level < 12; level++) text = base64(`${text} %2525252520 \\\\u0041 `);
      expect(redactor.text(`${text} %2525252520`)).toBe(`${text} %2525252520`);
      expect(decodings.mock.calls.length).toBeLessThan(200);
    } finally {
      decodings.mockRestore();
    }
  });

  test('what is encoded and holds no secret stays as it is, and of an address only the secret goes', () => {
    const redactor = openRedactor({});
    const harmless = 'The quick brown fox jumps over the lazy dog. '.repeat(4);
    for (const encode of [hex, pairs, percent, (text: string) => lines(base64(text), 64, '\n')])
      expect(redactor.text(encode(harmless))).toBe(encode(harmless));
    for (const digits of ['ab'.repeat(32), '0'.repeat(41)]) expect(redactor.text(digits)).toBe(digits);
    const url = (key: string): string => `https://a.example/find?q=two%20words&k=${key}&page=2%2F3`;
    expect(redactor.text(url(percent(OPENAI)))).toMatch(
      /^https:\/\/a\.example\/find\?q=two%20words&k=\[redacted:[a-z_]+\]&page=2%2F3$/u,
    );
  });

  test('a command without a secret is the same command', async () => {
    const command = insert({ content: { text: 'nothing here', list: [1, 2.5, null, true] } });
    expect(await openRedactor({}).command(command)).toBe(command);
  });

  test.each([
    [{ kinds: ['nothing'] }, /kinds/],
    [{ patterns: [{ name: 'a', pattern: '(' }] }, /pattern a/],
    [{ patterns: [{ name: 'a b', pattern: 'x' }] }, /name/],
    [{ fields: ['content'] }, /fields/],
    [{ secrets: true }, /secrets|Unrecognized/],
  ])('rules that cannot be read are refused: %j', (rules, message) => {
    expect(() => openRedactor(rules as RedactorOptions)).toThrow(message);
  });

  test('every kind has a name', () => {
    expect(SECRET_KINDS).toContain('private_key');
    expect(new Set(SECRET_KINDS).size).toBe(SECRET_KINDS.length);
  });
});

test('the names that an import counts lose their secrets, and its numbers stay numbers', async () => {
  const summary = {
    models: { [`m ${OPENAI}`]: 123_456_789_012, apiKey: 3 },
    usage: { input: 4_111_111_111_111_111 },
    warnings: [{ code: 'W_VALUE_UNREAD', count: 4_111_111, first: `line 3: ${OPENAI}` }],
  };
  const command = parseCommand({
    ...{ id: 'c1', history: 'h', branchId: 0, by: { recorder: 'agent' } },
    steps: [{ op: 'record_import', format: 'codex', title: OPENAI, summary }],
  });
  const redacted = await openRedactor({ patterns: [{ name: 'digits', pattern: '4\\d{6,}' }] }).command(
    command,
  );
  expect(redacted.steps).toEqual([
    {
      op: 'record_import',
      format: 'codex',
      title: '[redacted:api_key]',
      summary: {
        ...summary,
        models: { 'm [redacted:api_key]': 123_456_789_012, apiKey: 3 },
        warnings: [{ code: 'W_VALUE_UNREAD', count: 4_111_111, first: 'line 3: [redacted:api_key]' }],
      },
    },
  ]);
  const plain = { ...command, steps: [{ op: 'record_import' as const, format: 'codex', summary: {} }] };
  expect(await openRedactor({}).command(plain)).toBe(plain);
});
