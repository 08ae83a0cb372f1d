import { openRequestMessages, readRequest } from '@stemma/model-apis';
import type { WideJson, WideJsonObject } from '@stemma/canonical';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { APIS, conversation } from './conversations.ts';

test.each(APIS)('requests of %s are read after each other as each alone', (api) => {
  fc.assert(
    fc.property(conversation(api), (texts) => {
      const reader = openRequestMessages(api, (message: WideJsonObject) => JSON.stringify(message));
      let last: readonly string[] = [];
      for (const text of texts) {
        const alone = readRequest(api, Buffer.from(text));
        const found = reader.read(Buffer.from(text));
        if (!alone.ok) {
          expect(found).toEqual(alone);
          last = [];
          continue;
        }
        if (!found.ok) throw new Error(found.reason);
        expect(found.messages).toEqual(alone.messages.map((message) => JSON.stringify(message)));
        expect(found.messages.slice(0, found.shared)).toEqual(last.slice(0, found.shared));
        last = found.messages;
      }
    }),
  );
});

test('what a request begins with like the one before is not read again', () => {
  const said = (i: number): WideJson => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i} "said"`,
  });
  const request = (count: number): Uint8Array =>
    Buffer.from(
      JSON.stringify({ model: 'm', messages: Array.from({ length: count }, (_, i) => said(i)), tools: [] }),
    );
  let read = 0;
  const reader = openRequestMessages('openai.chat', () => read++);
  for (let count = 1; count <= 101; count += 2) {
    const found = reader.read(request(count));
    expect(found).toMatchObject({ ok: true, shared: Math.max(0, count - 2) });
  }
  expect(read).toBe(101);
});

test.each<[string, string]>([
  ['a key twice', '{"messages":[],"messages":[{"role":"user","content":"x"}]}'],
  ['a key with an escape', '{"mess\\u0061ges":[{"role":"user","content":"x"}]}'],
  ['bytes behind it', '{"messages":[]} x'],
  ['no end', '{"messages":[{"role":"user"'],
  ['a list without commas', '{"messages":[{"role":"user"}{"role":"user"}]}'],
  ['nothing', ''],
])('a body with %s is read as every other is', (_, text) => {
  const bytes = Buffer.from(text);
  const alone = readRequest('openai.chat', bytes);
  const found = openRequestMessages('openai.chat', (message) => message).read(bytes);
  expect(found).toEqual(alone.ok ? { ok: true, messages: alone.messages, shared: 0 } : alone);
});
