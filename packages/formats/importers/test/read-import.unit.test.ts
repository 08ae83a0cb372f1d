import { isStemmaError } from '@stemma/errors';
import { parseCommand } from '@stemma/history';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { importId, readImport, type ImportItem, type ImportOptions } from '../src/read-import.ts';
import type { ImportSource } from '../src/source.ts';
import { record, sourceOf } from './in-memory.ts';

const user = (content: unknown): object => ({ role: 'user', content });
const bytes = (...parts: (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(typeof part === 'string' ? part : Uint8Array.from(part))));

/** What came before the refusal, and the refusal. */
const refusal = async (
  source: ImportSource,
  options: ImportOptions = {},
): Promise<{ items: number; code: string; message: string }> => {
  let items = 0;
  try {
    for await (const _item of readImport(source, options)) items += 1;
  } catch (error) {
    if (isStemmaError(error)) return { items, code: error.code, message: error.message };
    throw error;
  }
  return { items, code: 'taken', message: '' };
};

const items = async (source: ImportSource, options: ImportOptions = {}): Promise<ImportItem[]> => {
  const all: ImportItem[] = [];
  for await (const item of readImport(source, options)) {
    if (item.kind === 'command') {
      const { kind, conversation, command } = item;
      all.push({ kind, conversation, command });
    } else all.push(item);
  }
  return all;
};

describe('readImport', () => {
  it.each<[string, string | Uint8Array, string, string]>([
    ['an empty file', '', 'E_INPUT_NOT_JSON', 'the file is empty'],
    ['white space', ' \n\n\t', 'E_INPUT_NOT_JSON', 'the file is empty'],
    ['no JSON', 'hello', 'E_INPUT_NOT_JSON', 'the file is not JSON'],
    [
      'a truncated document',
      '[{"role":"user","content":"x"},\n{"role":"us',
      'E_INPUT_TRUNCATED',
      'the file ends',
    ],
    ['a truncated line', '{"role":"user","content":"x"}\n{"role":"us', 'E_INPUT_TRUNCATED', 'line 2 ends'],
    ['a broken line', '[]\n[]\nx\n', 'E_INPUT_NOT_JSON', 'line 3 is not JSON'],
    [
      'an unknown role',
      JSON.stringify([user('x'), { role: 'bot' }]),
      'E_ROLE_UNKNOWN',
      'line 1, message 1 has the role "bot"',
    ],
    ['no role', JSON.stringify([user('x'), {}]), 'E_ROLE_UNKNOWN', 'line 1, message 1 has no role'],
    [
      'a huge number as role',
      '[{"role":12345678901234567890}]',
      'E_ROLE_UNKNOWN',
      'message 0 has the role 12345678901234567890',
    ],
    [
      'a message that is none',
      JSON.stringify({ messages: [user('x'), 'y'] }),
      'E_INPUT_SHAPE',
      'message 1 is a string',
    ],
    ['messages and conversations', '{"role":"user"}\n[]', 'E_INPUT_SHAPE', 'line 2: lines are either'],
    ['conversations and messages', '[]\n{"role":"user"}', 'E_INPUT_SHAPE', 'line 2: lines are either'],
    ['something else', '{"hello":1}', 'E_FORMAT_UNKNOWN', 'the file looks like none of the formats'],
    ['a number', '12', 'E_FORMAT_UNKNOWN', 'the file looks like none of the formats'],
    ['nesting 100,000 deep', '['.repeat(100_000), 'E_INPUT_TOO_DEEP', 'line 1 nests'],
    [
      'nesting 100,000 deep in a message',
      `[\n{"role":"user","content":${'['.repeat(100_000)}`,
      'E_INPUT_TOO_DEEP',
      'the file nests',
    ],
    [
      'a content nested deeper than a tree may have',
      `[{"role":"user","content":[${'['.repeat(400)}${']'.repeat(400)}]}]`,
      'E_INPUT_TOO_DEEP',
      'line 1, message 0',
    ],
    ['the key __proto__', '[{"role":"user","x":{"__proto__":1}}]', 'E_INPUT_FORBIDDEN_KEY', 'line 1 holds'],
    [
      'an integer beyond 2^53',
      '[{"role":"user","n":9007199254740993}]',
      'E_INPUT_NUMBER',
      'line 1, message 0',
    ],
    ['a number beyond a float', '[{"role":"user","n":1e999}]', 'E_INPUT_NUMBER', 'line 1 holds'],
    ['an unpaired surrogate', '[{"role":"user","content":"\\ud800"}]', 'E_INPUT_SURROGATE', 'line 1 holds'],
    [
      'bytes that are not UTF-8',
      bytes('[{"role":"user","content":"', [0xc3, 0x28], '"}]'),
      'E_INPUT_ENCODING',
      'the file is not UTF-8',
    ],
    ['a character cut at the end', bytes('[]\n', [0xe2, 0x82]), 'E_INPUT_ENCODING', 'at its end'],
    ['UTF-16', bytes([0xff, 0xfe], '[\u0000]\u0000'), 'E_INPUT_ENCODING', 'the file is not UTF-8'],
    ['two cores in an export', twoCores(), 'E_TWO_CORES', ''],
    ['another version of an export', '{"spec_version":"PACT/9","root":{}}', 'E_EXPORT_INVALID', ''],
  ])(
    'refuses %s with a code and a place, before it returns a command',
    { tags: ['context-tree§8:codes'] },
    async (_what, data, code, message) => {
      const found = await refusal(sourceOf(data));
      expect({ ...found, message: found.message.includes(message) ? message : found.message }).toEqual({
        items: 0,
        code,
        message,
      });
    },
  );

  it(
    'finds an error at the end of a long file before it returns the first command',
    { tags: ['context-tree§9'] },
    async () => {
      const lines = Array.from({ length: 5_000 }, () => '{"role":"assistant","content":"x"}\n').join('');
      expect(await refusal(sourceOf(`${lines}{"role":"bot"}`))).toMatchObject({
        items: 0,
        code: 'E_ROLE_UNKNOWN',
        message: expect.stringContaining('line 5001, message 5000') as string,
      });
    },
  );

  it(
    'reads a content of 10 MB, and refuses one above 64 MiB',
    { tags: ['long', 'record§4:limit'] },
    async () => {
      const [taken] = await record(
        sourceOf(JSON.stringify([user('x'.repeat(10_000_000)), { role: 'assistant' }])),
      );
      expect(taken?.cycles.length).toBe(1);
      const large = JSON.stringify([user('x'.repeat(64 * 1024 * 1024))]);
      expect(await refusal(sourceOf(large, 1 << 20))).toMatchObject({
        items: 0,
        code: 'E_CONTENT_TOO_LARGE',
      });
    },
  );

  it(
    'accepts a byte order mark, blank lines and both kinds of line ends',
    { tags: ['context-tree§9'] },
    async () => {
      const text = '\ufeff\r\n{"role":"user","content":"é"}\r\n\r\n{"role":"assistant","content":"b"}\r\n';
      for (const piece of [1, 2, 3, 7, 65_536]) {
        const [recorded, ...more] = await record(sourceOf(text, piece));
        expect([recorded?.report.read, more]).toEqual([
          { blocks: 2, cycles: 1, messages: 2, 'role assistant': 1, 'role user': 1 },
          [],
        ]);
      }
    },
  );

  it.each<[string, string, number[]]>([
    ['an array', '[{"role":"user"},{"role":"user"}]', [2]],
    ['an array over several lines', '[\n{"role":"user"},\n{"role":"user"}\n]\n', [2]],
    ['an object over several lines', '{\n"messages":[{"role":"user"}]}', [1]],
    ['lines that are messages: one conversation', '{"role":"user"}\n{"role":"user"}\n{"role":"user"}', [3]],
    [
      'lines that are lists: a conversation each',
      '[{"role":"user"}]\n[]\n{"messages":[{"role":"user"},{"role":"user"}]}',
      [1, 0, 2],
    ],
  ])('reads %s', { tags: ['context-tree§9'] }, async (_what, text, messages) => {
    const recorded = await record(sourceOf(text));
    expect(recorded.map(({ report }) => report.read['messages'] ?? 0)).toEqual(messages);
    expect(new Set(recorded.map(({ history }) => history)).size).toBe(messages.length);
  });

  it(
    'gives the same commands for the same file and name, others for another name or file',
    { tags: ['record§3:imports', 'context-tree§9:times-and-ids'] },
    async () => {
      const text = JSON.stringify([user('a'), { role: 'assistant', content: 'b' }, user('c')]);
      const first = await items(sourceOf(text), { name: 'n' });
      expect(await items(sourceOf(text, 3), { name: 'n', format: 'openai-chat' })).toEqual(first);
      const ids = async (data: string, name: string | null): Promise<(string | undefined)[]> =>
        (await items(sourceOf(data), { name })).map((item) =>
          item.kind === 'command' ? item.command.id : undefined,
        );
      const all = [
        ...(await ids(text, 'n')),
        ...(await ids(text, null)),
        ...(await ids(`${text} `, 'n')),
      ].filter(Boolean);
      expect(new Set(all).size).toBe(6);
      for (const item of first)
        if (item.kind === 'command') expect(parseCommand(item.command)).toEqual(item.command);
    },
  );

  it(
    'derives the id of the history from the name alone, so that a longer version of the file continues the history',
    { tags: ['record§3:repeated-start'] },
    async () => {
      const history = async (text: string, name: string | null): Promise<string | undefined> =>
        (await record(sourceOf(text), { name }))[0]?.history;
      expect(await history('[{"role":"user"}]', 'n')).toBe(
        await history('[{"role":"user"},{"role":"user"}]', 'n'),
      );
      expect(await history('[{"role":"user"}]', null)).not.toBe(
        await history('[{"role":"user"},{"role":"user"}]', null),
      );
    },
  );

  it('hashes format, history name and file digest into the id of an import', { tags: ['record§3'] }, () => {
    expect(importId('openai-chat@1', null, '00'.repeat(32))).toBe(
      'd20dd019cce16c966d1f6d1d8b3c6df76a0a41113ef106323b35bed021d121f8',
    );
  });

  it(
    'refuses one name for several conversations, an unknown format and a wrong name',
    { tags: ['context-tree§9'] },
    async () => {
      expect(await refusal(sourceOf('[]\n[]'), { name: 'n' })).toMatchObject({ items: 0, code: 'E_USAGE' });
      expect(await refusal(sourceOf('[]'), { format: 'csv' })).toMatchObject({
        items: 0,
        code: 'E_FORMAT_UNKNOWN',
      });
      expect(await refusal(sourceOf('[]'), { name: 'a b' })).toMatchObject({
        items: 0,
        code: 'E_NAME_INVALID',
      });
      expect(await refusal(sourceOf('[]'), { format: 'steps' })).toMatchObject({
        items: 0,
        code: 'E_INPUT_SHAPE',
      });
    },
  );

  it('notices a file that changes between checking and recording', { tags: ['record§3'] }, async () => {
    let opened = 0;
    const source: ImportSource = {
      name: 'the file',
      size: null,
      async *open() {
        opened += 1;
        yield bytes(opened === 1 ? '[]\n[]' : '[]\n[ ]');
      },
    };
    expect(await refusal(source)).toMatchObject({ code: 'E_INPUT_CHANGED' });
  });

  it(
    'holds one line of a JSON lines file at a time, and splits many messages without a call into several commands',
    { tags: ['long', 'context-tree§9'] },
    async () => {
      const line = bytes(`{"role":"user","content":"${'x'.repeat(1_000)}"}\n`);
      const source: ImportSource = {
        name: 'the file',
        size: null,
        async *open() {
          for (let i = 0; i < 50_000; i++) yield line;
        },
      };
      const before = heapInUse();
      let most = 0;
      let commands = 0;
      for await (const item of readImport(source)) {
        if (item.kind !== 'command') continue;
        commands += 1;
        expect(item.command.steps.length).toBeLessThanOrEqual(1_001);
        if (commands % 10 === 0) most = Math.max(most, heapInUse() - before);
      }
      expect(commands).toBe(50);
      expect(most).toBeLessThan(15_000_000);
    },
  );

  it('holds one conversation of a list of them at a time', { tags: ['long', 'context-tree§9'] }, async () => {
    const conversation = (n: number): string =>
      JSON.stringify({ name: `c${n}`, messages: [user('x'.repeat(500_000)), { role: 'assistant' }] });
    for (const separator of [',', ',\n']) {
      const source: ImportSource = {
        name: 'the file',
        size: null,
        async *open() {
          for (let n = 0; n < 60; n++) yield Buffer.from((n === 0 ? '[' : separator) + conversation(n));
          yield Buffer.from(']\n');
        },
      };
      const before = heapInUse();
      let most = 0;
      let reports = 0;
      for await (const item of readImport(source)) {
        if (item.kind !== 'report') continue;
        reports += 1;
        if (reports % 20 === 0) most = Math.max(most, heapInUse() - before);
      }
      expect(reports).toBe(60);
      expect(most).toBeLessThan(15_000_000);
    }
  });

  it.each([
    ['on one line', ',', 'line 1'],
    ['on several lines', ',\n', 'the file'],
  ])(
    'says which items of a long list %s cannot be read',
    { tags: ['context-tree§9'] },
    async (_what, separator, where) => {
      const conversations = [
        { messages: [user('x'.repeat(2_000_000))] },
        [user('a')],
        { messages: [{ role: 'bot' }] },
        7,
        { messages: [user('b'), { role: 'assistant' }] },
      ];
      const text = `[${conversations.map((each) => JSON.stringify(each)).join(separator)}\n]`;
      for (const piece of [1_000, 65_536]) {
        const found = await items(sourceOf(text, piece), { partly: true });
        expect(
          found.flatMap((item) => (item.kind === 'refused' ? [[item.place, item.error.code]] : [])),
        ).toEqual([
          [`${where}, item 2`, 'E_ROLE_UNKNOWN'],
          [`${where}, item 3`, 'E_INPUT_SHAPE'],
        ]);
        expect(found.flatMap((item) => (item.kind === 'report' ? [item.conversation] : []))).toEqual([
          0, 1, 4,
        ]);
      }
      expect(await refusal(sourceOf(`${text.slice(0, -1)},{"a":`, 65_536), { partly: true })).toMatchObject({
        items: 0,
        code: 'E_INPUT_TRUNCATED',
      });
      const [alone, ...others] = await items(sourceOf(JSON.stringify(conversations.slice(0, 1))));
      expect([alone?.kind, others.map(({ kind }) => kind)]).toEqual(['command', ['report']]);
    },
  );

  it(
    'reports how far it has read while it checks the file and again while it imports it',
    { tags: ['context-tree§9'] },
    async () => {
      const seen: [string, number][] = [];
      const text = '[{"role":"user"}]\n[{"role":"user"}]\n';
      await items(sourceOf(text, 20), { onProgress: (phase, read) => seen.push([phase, read]) });
      expect(seen).toEqual([
        ['check', 20],
        ['check', 36],
        ['read', 20],
        ['read', 36],
      ]);
    },
  );
});

/** Bytes that are alive, garbage collected first. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

function twoCores(): string {
  const block = (id: string): object => ({ id, nodeType: 'cb' });
  const turn = { id: 't', nodeType: 'mt', children: [block('a'), { id: 'c', nodeType: 'mc', children: [] }] };
  const seq = { id: 's', nodeType: '^seq', children: [turn] };
  return JSON.stringify({ spec_version: 'PACT/0.1.0', root: { id: 'r', children: [seq] } });
}
