import { describe, expect, it } from 'vitest';
import { parseJson, parseWideJson } from '../src/index.ts';
import { fc, runs, sourceValue } from './arbitraries.ts';

describe('JSON from outside', () => {
  it('is parsed to the value that was written', { tags: ['context-tree§2'] }, () => {
    fc.assert(
      fc.property(sourceValue, fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseJson(text)).toEqual(value);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ['', 'E_INPUT_TRUNCATED'],
    ['{"a":', 'E_INPUT_TRUNCATED'],
    ['["abc', 'E_INPUT_TRUNCATED'],
    ['{"a":"b"', 'E_INPUT_TRUNCATED'],
    ['{"a"', 'E_INPUT_TRUNCATED'],
    ['[1 \n', 'E_INPUT_TRUNCATED'],
    ['[1,2', 'E_INPUT_TRUNCATED'],
    ['[{}, tr', 'E_INPUT_TRUNCATED'],
    ['[1]]', 'E_INPUT_NOT_JSON'],
    ['{"a":1]', 'E_INPUT_NOT_JSON'],
    ['nope', 'E_INPUT_NOT_JSON'],
    ['[1,]', 'E_INPUT_NOT_JSON'],
    ['9007199254740993', 'E_INPUT_NUMBER'],
    ['[1e400]', 'E_INPUT_NUMBER'],
    ['{"a":{"__proto__":1}}', 'E_INPUT_FORBIDDEN_KEY'],
    ['{"\\u005f_proto__":1}', 'E_INPUT_FORBIDDEN_KEY'],
    ['{"constructor":1}', 'E_INPUT_FORBIDDEN_KEY'],
    ['["\\ud800"]', 'E_INPUT_SURROGATE'],
    ['["\ud800"]', 'E_INPUT_SURROGATE'],
    ['['.repeat(100_000), 'E_INPUT_TOO_DEEP'],
    ['{"a":'.repeat(100_000), 'E_INPUT_TOO_DEEP'],
  ])('is refused with a code: %#', { tags: ['context-tree§2'] }, (text, code) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code }));
  });

  it(
    'is parsed correctly where JSON.parse of V8 13.6 is wrong: keys that are a single escape',
    { tags: ['context-tree§2'] },
    () => {
      const text =
        '[{"a":1,"\\n":1},{"a":1,"\\"":2}, {"a" : 1e2 , "\\u0007" : [ -0.5, true, null, false, {}, [] ]}]';
      expect(parseJson(text)).toEqual([
        { a: 1, '\n': 1 },
        { a: 1, '"': 2 },
        { a: 100, '\u0007': [-0.5, true, null, false, {}, []] },
      ]);
    },
  );

  it('is refused by our own parser wherever JSON.parse refuses it', { tags: ['context-tree§2'] }, () => {
    const text = '{"\\n":[1,{"x":"y\\"","plain":[]}]}';
    expect(parseJson(text)).toEqual({ '\n': [1, { x: 'y"', plain: [] }] });
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('', ',', '"', '}', ']', ' ', '\\', '1', '-'),
        (at, put) => {
          const altered = text.slice(0, at) + put + text.slice(at + 1);
          expect(outcome(() => parseJson(altered))).toEqual(outcome(() => parsePlainly(altered)));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('may hold brackets and quotes in texts, and floats beyond 2^53', { tags: ['context-tree§10.9'] }, () => {
    const text = JSON.stringify(['['.repeat(1000) + '\\"' + '{'.repeat(1000), 1e300, 0.1]);
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(parseJson('12345678901234567890.0')).toBe(12345678901234567890);
  });

  it('keeps integers of any size where headers are read', { tags: ['context-tree§2:nanoseconds'] }, () => {
    expect(parseWideJson('{"created_at_ns":1700000000000000001,"n":-9007199254740993,"s":5}')).toEqual({
      created_at_ns: 1700000000000000001n,
      n: -9007199254740993n,
      s: 5,
    });
  });
});

const parsePlainly = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('refused');
  }
};

const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() };
  } catch {
    return 'refused';
  }
};
