import fc from 'fast-check';
import { isForbiddenKey, type Json, type WideJson } from '../src/index.ts';

export { fc };

/** How many cases a property tries: `STEMMA_RUNS` instead of the usual number, where it is set. */
export const runs = (usual: number): number => Number(process.env['STEMMA_RUNS'] ?? usual);

export const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', '"', '\\', '\u0000', '\ufffd', '\ufeff'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});
const key = text.filter((value) => !isForbiddenKey(value));

/** Numbers of all magnitudes, those around the borders of encodings among them. */
export const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 1 - 2 ** 53),
  fc.constantFrom(-1, -32, -33, -128, -129, -32_768, -32_769, -(2 ** 31), -(2 ** 31) - 1),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0 || 0),
);

const tree = <T>(leaf: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 5 }),
    map: fc.dictionary(fc.oneof(key, fc.nat(20).map(String)), tie('value'), {
      maxKeys: 6,
      noNullPrototype: true,
    }),
  })).value;

const leaf = fc.oneof(fc.constant(null), fc.boolean(), number, text);

export const jsonValue = tree(leaf) as fc.Arbitrary<Json>;
/** Values that JavaScript writes as a JSON text that may come in: no floats that it writes as an integer beyond 2^53. */
export const sourceValue = tree(
  leaf.filter(
    (value) =>
      typeof value !== 'number' ||
      Number.isSafeInteger(value) ||
      Math.abs(value) < 2 ** 53 ||
      Math.abs(value) >= 1e21,
  ),
) as fc.Arbitrary<Json>;
export const wideJsonValue = tree(
  fc.oneof(leaf, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n })),
) as fc.Arbitrary<WideJson>;
