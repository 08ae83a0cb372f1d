import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromWireJson, toWireJson } from '../src/index.ts';

test('a time of 19 digits survives the wire as bare digits', { tags: ['context-tree§2:nanoseconds'] }, () => {
  const text = toWireJson({ created_at_ns: 1_763_725_800_123_456_789n });
  expect(text).toBe('{"created_at_ns":1763725800123456789}');
  expect(fromWireJson(text)).toEqual({ created_at_ns: 1_763_725_800_123_456_789n });
});

test('bytes are written as hex, undefined values are left out, and null is kept', () => {
  expect(toWireJson({ hash: new Uint8Array([0, 255]), gone: undefined, none: null, list: [undefined] })).toBe(
    '{"hash":"00ff","none":null,"list":[null]}',
  );
});

test('any JSON value that is written is read back unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(fromWireJson(toWireJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('a value is written the same whether or not something in it is only of the API: an integer of any size, or bytes', () => {
  const anyWire = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(anyWire, (value) => {
      expect(toWireJson(value)).toBe(toWireJson([value, 1n]).slice(1, -3));
    }),
  );
  const odd = { 2: [undefined, 2 ** 60, -0, Number.NaN], b: undefined, '1': { 'é\u2028': '\ud800' } };
  expect(toWireJson(odd)).toBe(toWireJson([odd, 1n]).slice(1, -3));
  expect(toWireJson([new Date(0)])).toBe('[{}]');
});
