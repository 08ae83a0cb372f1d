import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { openOutput, table, wrapped } from '../src/output.ts';
import type { Surroundings } from '../src/surroundings.ts';

/** An output, and the pieces that it wrote. */
const outputTo = (pieces: string[]) => {
  const stdout = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece.toString());
      setImmediate(done);
    },
  });
  return openOutput({ stdout, stderr: new PassThrough(), env: {} } as unknown as Surroundings, true);
};

async function* some(count: number, text = 'a text'): AsyncGenerator {
  for (let i = 0; i < count; i++) yield await Promise.resolve({ i, text });
}

test.each([0, 1, 2, 20_000])('a list of %i items is one document, written in pieces', async (count) => {
  const pieces: string[] = [];
  await outputTo(pieces).list(some(count));
  const text = pieces.join('');
  expect(text).toBe(`${JSON.stringify(Array.from({ length: count }, (_, i) => ({ i, text: 'a text' })))}\n`);
  expect(pieces.length).toBe(Math.max(1, Math.ceil(text.length / (64 * 1024 + 40))));
});

test('a list that ends with an error is no document', async () => {
  const pieces: string[] = [];
  const broken = async function* (): AsyncGenerator {
    yield* some(2, 'x'.repeat(50_000));
    throw new Error('no more');
  };
  await expect(outputTo(pieces).list(broken())).rejects.toThrow('no more');
  expect(pieces.join('')).toMatch(/^\[.*\}$/);
});

test('what cannot be seen is escaped in a list, and means the same', async () => {
  const pieces: string[] = [];
  await outputTo(pieces).list(some(1, 'a\u202eb'));
  expect(pieces.join('')).toContain('\\u202e');
  expect(JSON.parse(pieces.join(''))).toEqual([{ i: 0, text: 'a\u202eb' }]);
});

test('columns stay under their heads where letters are wide or have marks', () => {
  expect(
    table(
      ['NAME', 'N'],
      [
        ['会議-1', '1'],
        ['e\u0301t\u0301', '2'],
        ['plain', '3'],
      ],
    ),
  ).toBe('NAME    N\n会議-1  1\ne\u0301t\u0301      2\nplain   3\n');
});

test.each([
  [40, 'CALL  TIME               ATTEMPT\n@c1   2026-11-28 06:09Z  call-94c8cf\n'],
  [35, 'CALL  TIME\n@c1   2026-11-28 06:09Z\n'],
  [16, 'CALL  TIME\n@c1   2026-11-2…\n'],
])('in %i columns, what gives way is left out before anything is cut', (width, shown) => {
  const rows = [['@c1', '2026-11-28 06:09Z', 'call-94c8cf']];
  expect(table(['CALL', 'TIME', 'ATTEMPT'], rows, width, ['ATTEMPT'])).toBe(shown);
});

describe('wrapped', () => {
  it.each([
    ['a sentence', 'one two three four', 9, 'one two\n  three\n  four'],
    ['what stands behind a title', 'tokens  one two three', 17, 'tokens  one two\n        three'],
    ['an indented line', '  by ann at three', 10, '  by ann\n  at three'],
    ['no word', `hash  ${'ab'.repeat(6)}`, 12, `hash  ${'ab'.repeat(6)}`],
    ['between cells', 'z1  a7b8c9  2 of 9', 14, 'z1  a7b8c9\n    2 of 9'],
    ['wide letters', '漢字 漢字 漢', 9, '漢字 漢字\n  漢'],
    ['behind a word as short as what is put below it', 'a 漢aa漢a', 8, 'a\n  漢aa漢a'],
    ['a title that leaves no room', 'aaa  aa漢', 8, 'aaa\n  aa漢'],
    ['nothing that fits', 'one\ntwo', 9, 'one\ntwo'],
  ])('breaks %s, and puts the rest below its text', (_what, text, width, expected) => {
    expect(wrapped(text, width)).toBe(expected);
  });

  it('loses no character but spaces, and only a word, or a title with one, makes a line too wide', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '漢', ' ', '\n'), maxLength: 200 });
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 90 }), (given, width) => {
        const lines = wrapped(given, width);
        expect(lines.replace(/\s/g, '')).toBe(given.replace(/\s/g, ''));
        for (const line of lines.split('\n'))
          if (
            line
              .replace(/^ *\S+ {2,}/, '')
              .trim()
              .includes(' ')
          )
            expect(line.replace(/漢/g, '??').trimEnd().length).toBeLessThanOrEqual(width);
      }),
    );
  });
});
