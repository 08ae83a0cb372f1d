import fc from 'fast-check';
import { expect, test } from 'vitest';
import { picturesIn } from '../src/page/find-pictures.ts';
import { threadRanges } from '../src/thread/thread-ranges.ts';

/** Canonical JSON is ASCII. */
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

test('the parts of a thread are its bytes, and each message is found at the bytes that are said', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ content: fc.jsonValue(), id: fc.string({ unit: 'binary', minLength: 1 }) })),
      (messages) => {
        const thread = JSON.stringify(messages).replace(/[^\x20-\x7e]/g, escaped);
        const parts = threadRanges(thread);
        expect(parts.map((part) => (typeof part === 'string' ? part : part.text)).join('')).toBe(thread);
        const found = parts.filter((part) => typeof part !== 'string');
        expect(found.map(({ node }) => node)).toEqual(messages.map(({ id }) => id));
        const bytes = new TextEncoder().encode(thread);
        for (const { from, to, text } of found) {
          expect(to - from).toBe(bytesOf(text));
          expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.slice(from, to))).toBe(
            new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text)),
          );
        }
      },
    ),
  );
});

test('pictures are found as the APIs of models have them, and nothing else is taken for one', () => {
  const data = 'iVBORw0KGgo=';
  const png = { type: 'image/png', base64: data };
  expect(picturesIn([{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }])).toEqual([
    png,
  ]);
  expect(picturesIn([{ type: 'input_image', image_url: `data:image/png;base64,${data}` }])).toEqual([png]);
  expect(picturesIn([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }])).toEqual([
    png,
  ]);
  expect(picturesIn([{ inlineData: { mimeType: 'image/jpeg', data } }])).toEqual([
    { type: 'image/jpeg', base64: data },
  ]);
  for (const other of [
    'https://example.org/a.png',
    `data:image/svg+xml;base64,${data}`,
    `data:text/html;base64,${data}`,
    `data:image/png;base64,${data}"><script>`,
    { media_type: 'image/png', data: '<svg onload=alert(1)>' },
    { media_type: 'text/html', data },
  ])
    expect(picturesIn([other])).toEqual([]);
  expect(picturesIn(Array.from({ length: 50 }, () => `data:image/png;base64,${data}`))).toHaveLength(20);
});
