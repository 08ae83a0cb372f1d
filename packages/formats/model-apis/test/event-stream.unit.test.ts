import fc from 'fast-check';
import { expect, it } from 'vitest';
import { eventStreamData } from '../src/event-stream.ts';

const read = (text: string | Uint8Array) => [
  ...eventStreamData(typeof text === 'string' ? new TextEncoder().encode(text) : text),
];
const bytesOf = (text: string) => new TextEncoder().encode(text);
const ended = (data: string) => ({ data, ended: true });

it.each<[string, string, { readonly data: string; readonly ended: boolean }[]]>([
  ['names, ids and comments', ': hello\nevent: a\nid: 1\nretry: 5\ndata: x\n\n', [ended('x')]],
  ['every end of a line', 'data: a\r\n\r\ndata: b\r\rdata: c\n\n', [ended('a'), ended('b'), ended('c')]],
  ['several lines of data', 'data: a\ndata:b\ndata\ndata:  c\n\n', [ended('a\nb\n\n c')]],
  ['events without data', 'event: ping\n\n\n\ndata: a\n\n', [ended('a')]],
  ['a byte order mark', '\ufeffdata: a\n\n', [ended('a')]],
  ['fields of other names', 'database: a\ndat: b\n data: c\n\n', []],
  ['a byte order mark before data that are cut off', '\ufeffdata: a', [{ data: 'a', ended: false }]],
  ['a return that is the last byte', 'data: a\r\n\r', [ended('a')]],
  ['a second byte order mark as text', '\ufeff\ufeffdata: a\n\ndata: b\n\n', [ended('b')]],
  ['an event that is cut off', 'data: a\n\ndata: b\nda', [ended('a'), { data: 'b', ended: false }]],
])('reads %s', (_what, text, events) => {
  expect(read(text)).toEqual(events);
});

it('leaves out a character that the end cuts in two, and refuses other bytes that are not UTF-8', () => {
  const bytes = new TextEncoder().encode('data: é😀');
  expect(read(bytes.subarray(0, bytes.length - 1))).toEqual([{ data: 'é', ended: false }]);
  expect(read(Uint8Array.of(...bytesOf(': '), 0xff, ...bytesOf('\ndata: a\n\n')))).toEqual([ended('a')]);
  expect(() => read(Uint8Array.of(...bytesOf('data: '), 0xc3, 0x0a))).toThrow(TypeError);
  expect(() => read(Uint8Array.of(...new TextEncoder().encode('data: '), 0xff, 0x0a))).toThrow(TypeError);
});

it('gives back any texts that are sent as data', () => {
  const text = fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll(/[\r\n]/g, ' '));
  fc.assert(
    fc.property(
      fc.array(fc.array(text, { minLength: 1 })),
      fc.constantFrom('\n', '\r\n', '\r'),
      (events, eol) => {
        const sent = events
          .map((lines) => lines.map((line) => `data: ${line}${eol}`).join('') + eol)
          .join('');
        expect(read(sent)).toEqual(events.map((lines) => ended(lines.join('\n'))));
      },
    ),
  );
});
