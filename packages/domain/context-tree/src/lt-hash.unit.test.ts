import { shake128 } from '@stemma/canonical';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addChild, addToSum, element, emptySum, subtractChild, SUM_BYTES } from './lt-hash.ts';

const elements = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 });

test(
  'the sum depends on its elements and not on their order, removing an element undoes adding it, and lanes are little-endian',
  { tags: ['snapshots:tree-hash'] },
  () => {
    fc.assert(
      fc.property(elements, elements, (kept, gone) => {
        const sum = emptySum();
        for (const element of [...gone, ...kept]) addToSum(sum, element, 1);
        for (const element of gone) addToSum(sum, element, -1);
        const unaligned = new Uint8Array(SUM_BYTES + 1).subarray(1);
        for (const element of kept.toReversed()) addToSum(unaligned, element, 1);
        const lanes = kept.map((element) => shake128(element, SUM_BYTES));
        const naive = emptySum();
        const view = new DataView(naive.buffer);
        for (let i = 0; i < SUM_BYTES; i += 2)
          view.setUint16(
            i,
            lanes.reduce((total, lane) => total + (lane[i] as number) + 256 * (lane[i + 1] as number), 0) %
              65_536,
            true,
          );
        expect(Buffer.from(sum).equals(naive)).toBe(true);
        expect(Buffer.from(unaligned).equals(naive)).toBe(true);
      }),
    );
  },
);

test(
  'children with a cached expansion are removed from the sum like any others',
  { tags: ['snapshots:tree-hash'] },
  () => {
    const digest = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString('latin1'));
    const children = fc.array(
      fc.tuple(fc.constantFrom('^sys' as const, '^seq' as const), digest, fc.boolean()),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(children, children, (kept, gone) => {
        const sum = emptySum();
        for (const [region, each, changing] of [...gone, ...kept]) addChild(sum, region, each, changing);
        for (const [region, each] of gone) subtractChild(sum, region, each);
        const plain = emptySum();
        for (const [region, each] of kept) addToSum(plain, element(region, each), 1);
        expect(Buffer.from(sum).equals(plain)).toBe(true);
      }),
    );
  },
);
