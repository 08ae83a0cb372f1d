import { parseWideJson, type WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { openRequestValueReader, openRequestValues } from '@stemma/model-apis';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { APIS, conversation } from './conversations.ts';

const outcome = (read: () => WideJson): unknown => {
  try {
    return read();
  } catch (error) {
    return isStemmaError(error) ? error.code : 'not UTF-8';
  }
};

test.each(APIS)('values of requests of %s are read after each other as each alone', (api) => {
  fc.assert(
    fc.property(fc.array(conversation(api), { minLength: 1, maxLength: 3 }), fc.nat(), (all, cut) => {
      const reader = openRequestValues();
      for (const text of all.flat()) {
        // Some texts end too early, or have a part that is no JSON.
        const broken = [text, text.slice(0, cut % (text.length + 1)), text.replace(']', ',]')];
        for (const each of broken)
          expect(outcome(() => reader.read(api, Buffer.from(each)))).toEqual(
            outcome(() => parseWideJson(each)),
          );
      }
    }),
  );
});

test.each(APIS)('what their messages become in %s is the same, too', (api) => {
  fc.assert(
    fc.property(conversation(api), (texts) => {
      const [values, read] = [openRequestValues(), openRequestValueReader()];
      for (const text of texts)
        expect(read(api, values.read(api, Buffer.from(text)))).toEqual(
          openRequestValueReader()(api, parseWideJson(text)),
        );
    }),
  );
});

test('messages that an earlier request has to the byte are the same objects', () => {
  const said = (i: number): WideJson => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i} "said"`,
  });
  const request = (first: string, count: number): Uint8Array =>
    Buffer.from(
      JSON.stringify({
        model: 'm',
        messages: [{ role: 'system', content: first }, ...Array.from({ length: count }, (_, i) => said(i))],
        tools: [],
      }),
    );
  const reader = openRequestValues();
  const itemsOf = (value: WideJson): readonly WideJson[] =>
    (value as { readonly messages: readonly WideJson[] }).messages;
  const last = new Map<string, readonly WideJson[]>();
  for (let count = 1; count <= 21; count += 2)
    for (const first of ['one', 'other']) {
      const items = itemsOf(reader.read('openai.chat', request(first, count)));
      const before = last.get(first) ?? [];
      expect(items.slice(0, before.length).every((item, i) => item === before[i])).toBe(true);
      last.set(first, items);
    }
  const shorter = itemsOf(reader.read('openai.chat', request('one', 3)));
  expect(shorter.every((item, i) => item === last.get('one')?.[i])).toBe(true);
});
