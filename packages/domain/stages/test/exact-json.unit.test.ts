import { canonicalJson, type WideJson } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printCanonical, printPlain, readExactJson, type ExactJson } from '../src/index.ts';
import { sanitise } from '../src/sanitise.ts';
import { exactValues, jsonTexts } from './arbitraries.ts';

/** For JSON.stringify: keys in one order. */
const sorted = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    : value;

const printed = (text: string): string => printPlain(readExactJson(text));

describe('exact JSON', () => {
  it.each([
    ['1', '1'],
    ['1.0', '1.0'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['1e5', '100000.0'],
    ['1E-7', '1e-07'],
    ['1e16', '1e+16'],
    ['9007199254740993', '9007199254740993'],
    ['-123456789012345678901234567890', '-123456789012345678901234567890'],
    ['123456789012345678.0', '1.2345678901234568e+17'],
    ['0.0001', '0.0001'],
    ['0.00001', '1e-05'],
    ['2.50', '2.5'],
    ['5e-324', '5e-324'],
  ])('prints the number %s as %s', { tags: ['compiler-stages:numbers'] }, (text, wanted) => {
    expect(printed(text)).toBe(wanted);
  });

  it.each(['NaN', 'Infinity', '-Infinity', '1e999', '-1e999', '01', '.5', '1.', '+1', '1e', '0x10', '1_0'])(
    'refuses %s as a number',
    { tags: ['compiler-stages:numbers'] },
    (text) => {
      expect(() => readExactJson(text)).toThrow(expect.objectContaining({ name: 'StemmaError' }) as Error);
    },
  );

  it(
    'keeps lone surrogates and prints them as escapes, beside whole pairs',
    { tags: ['compiler-stages:surrogates'] },
    () => {
      expect(printed('"a\\ud83d \\ud83d\\ude00 \\udc00"')).toBe('"a\\ud83d \\ud83d\\ude00 \\udc00"');
      expect(printed('{"\\ud83d":1,"\\uff5e":2,"\\ud83d\\ude00":3}')).toBe(
        '{"\\ud83d":1,"\\uff5e":2,"\\ud83d\\ude00":3}',
      );
    },
  );

  it(
    'keeps any key, the last value of a repeated one, and no prototype comes of it',
    { tags: ['compiler-stages:reading'] },
    () => {
      const value = readExactJson('{"__proto__":{"x":1},"a":1,"constructor":2,"a":3}');
      expect(printPlain(value)).toBe('{"__proto__":{"x":1},"a":3,"constructor":2}');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(({} as { x?: number }).x).toBeUndefined();
    },
  );

  it(
    'reads what V8 reads wrongly: a key that is one escape, behind the keys "a" and "\\n"',
    { tags: ['compiler-stages:reading'] },
    () => {
      expect(printed('[{"a":1,"\\n":2},{"a":1,"\\"":2}]')).toBe(
        '[{"a":1,"\\n":2},{"\\"":2,"a":1}]'.replace('{"a":1,"\\n":2}', '{"\\n":2,"a":1}'),
      );
    },
  );

  it(
    'refuses what is nested more than 512 deep, before the stack ends',
    { tags: ['compiler-stages:reading'] },
    () => {
      expect(printed('['.repeat(512) + ']'.repeat(512))).toHaveLength(1024);
      for (const open of ['[', '{"a":'])
        expect(() => readExactJson(open.repeat(1_000_000))).toThrow(
          expect.objectContaining({ code: 'E_INPUT_TOO_DEEP' }) as Error,
        );
    },
  );

  it(
    'takes time that grows with the text: ten million characters of every kind',
    { tags: ['long', 'compiler-stages:reading'] },
    () => {
      const size = 10_000_000;
      const texts = [
        `"${'a'.repeat(size)}"`,
        `"${'\\\\'.repeat(size / 2)}"`,
        `"${'\\"'.repeat(size / 2)}"`,
        '9'.repeat(size),
        `[${'"",'.repeat(size / 4)}"\\n"]`,
        `"${'\\'.repeat(size)}`,
        ' '.repeat(size) + '1',
      ];
      const started = performance.now();
      for (const text of texts) {
        try {
          printPlain(readExactJson(text));
        } catch (error) {
          expect(error).toMatchObject({ code: 'E_INPUT_TRUNCATED' });
        }
      }
      expect(performance.now() - started).toBeLessThan(30_000);
    },
  );

  it(
    'reads again what it printed as the same value',
    { tags: ['compiler-stages:canonical-and-plain'] },
    () => {
      fc.assert(
        fc.property(jsonTexts, (text) => {
          expect(printed(printed(text))).toBe(printed(text));
        }),
      );
    },
  );

  it(
    'reads and refuses texts as JSON.parse does, but for what that loses',
    { tags: ['compiler-stages:reading'] },
    () => {
      const soup = fc.string({
        unit: fc.constantFrom(...Array.from('{}[]",:\\ \n01.eE-+truefalsnu/bax')),
        maxLength: 24,
      });
      const parsed = (text: string): unknown => {
        try {
          return JSON.parse(text) as unknown;
        } catch {
          return undefined;
        }
      };
      fc.assert(
        fc.property(fc.oneof(jsonTexts, soup), (text) => {
          const wanted = parsed(text);
          if (wanted === undefined) expect(() => readExactJson(text)).toThrow();
          // Where a float overflows, only JSON.parse gives a value.
          else if (!/[eE]\+?\d{3}/.test(text))
            // -0 is lost by either way of printing it.
            expect(JSON.stringify(parsed(printed(text)), sorted)).toBe(JSON.stringify(wanted, sorted));
        }),
      );
    },
  );

  it(
    'prints values of our own trees as they are hashed everywhere else',
    { tags: ['compiler-stages:canonical-and-plain'] },
    () => {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          fc.pre(JSON.stringify(value).isWellFormed() && !JSON.stringify(value).includes('\\ud'));
          expect(printPlain(value as ExactJson)).toBe(canonicalJson(value as WideJson));
        }),
      );
    },
  );

  it('sorts keys by code point', { tags: ['compiler-stages:code-points'] }, () => {
    expect(printed('{"\\ud83d\\ude00":1,"\\uff5e":2,"z":3,"":4}')).toBe(
      '{"":4,"z":3,"\\uff5e":2,"\\ud83d\\ude00":1}',
    );
  });
});

describe('sanitise', () => {
  it(
    'drops times and redacts secrets at any depth, and nothing else',
    { tags: ['compiler-stages:sanitise'] },
    () => {
      const value = readExactJson(
        '{"seq":1,"SEQ":2,"timestamp":3,"timestamp_ms":4,"a":[[{"API_Key":{"x":1},"Authorization":null,"seq":0}]],"openai_api_key":"k","api-key":"kept"}',
      );
      expect(printCanonical(value)).toBe(
        '{"SEQ":2,"a":[[{"API_Key":"***REDACTED***","Authorization":"***REDACTED***"}]],"api-key":"kept","openai_api_key":"***REDACTED***"}',
      );
    },
  );

  it(
    'done before printing or while printing is the same',
    { tags: ['compiler-stages:canonical-and-plain'] },
    () => {
      fc.assert(
        fc.property(exactValues, (value) => {
          expect(printCanonical(value)).toBe(printPlain(sanitise(value)));
        }),
      );
    },
  );
});
