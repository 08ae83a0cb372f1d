import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress, printAddress, VIEWS } from '../src/address.ts';

const word = fc.string({ minLength: 1, maxLength: 20 });

test('what is looked at comes back from the address of the page, whatever the ids hold', () => {
  fc.assert(
    fc.property(
      fc.record({
        history: fc.option(word),
        at: fc.option(word),
        node: fc.option(word),
        view: fc.constantFrom(...VIEWS),
      }),
      (address) => {
        expect(parseAddress(new URL(printAddress(address), 'http://x/').search)).toEqual(address);
      },
    ),
  );
});

test('an address is short and readable', () => {
  expect(printAddress({ history: 'h1:5', at: '@c12', node: 'm3', view: 'bytes' })).toBe(
    '?h=h1:5&at=@c12&node=m3&view=bytes',
  );
  expect(printAddress({ history: null, at: null, node: null, view: 'thread' })).toBe('./');
  expect(parseAddress('?view=nonsense').view).toBe('thread');
});
