import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DIALOGS,
  change,
  parseAddress,
  printAddress,
  SHOWS,
  SIDES,
  VIEWS,
  type Address,
} from '../src/page/address.ts';

const word = fc.string({ minLength: 1, maxLength: 20 });

const NOWHERE: Address = parseAddress('');

test('the address of the page restores the view, whatever characters ids have', () => {
  fc.assert(
    fc.property(
      fc.record({
        history: fc.option(word),
        at: fc.option(word),
        node: fc.option(word),
        view: fc.constantFrom(...VIEWS),
        side: fc.option(fc.constantFrom(...SIDES)),
        intervention: fc.option(word),
        type: fc.option(word),
        actor: fc.option(word),
        find: fc.option(word),
        select: fc.option(word),
        texts: fc.constantFrom('plain', 'rendered'),
        show: fc.option(fc.constantFrom(...SHOWS)),
        other: fc.option(word),
        a: fc.option(word),
        b: fc.option(word),
        part: fc.option(word),
        filter: fc.option(word),
        dialog: fc.option(fc.constantFrom(...DIALOGS)),
        on: fc.option(word),
        since: fc.option(word),
        after: fc.option(word),
        before: fc.option(word),
        q: fc.option(word),
        sort: fc.option(word),
        group: fc.option(word),
        of: fc.option(word),
        ticked: fc.option(word),
      }),
      (address) => {
        expect(parseAddress(new URL(printAddress(address), 'http://x/').search)).toEqual(address);
      },
    ),
  );
});

test('an address is short and readable', () => {
  expect(printAddress({ ...NOWHERE, history: 'h1:5', at: '@c12', node: 'm3', view: 'bytes' })).toBe(
    '?h=h1:5&at=@c12&node=m3&view=bytes',
  );
  expect(
    printAddress({ ...NOWHERE, history: 'h1', side: 'interventions', actor: 'ann', intervention: 'x' }),
  ).toBe('?h=h1&side=interventions&actor=ann&intervention=x');
  expect(printAddress(NOWHERE)).toBe('./');
  expect(parseAddress('?h=h1&view=nonsense&side=nonsense')).toEqual({ ...NOWHERE, history: 'h1' });
});

test('a switch to another branch shows its newest snapshot and keeps the open intervention; a switch to another history resets the view', () => {
  const id = 'h' + 'a'.repeat(20);
  const now: Address = {
    ...NOWHERE,
    history: id,
    at: '@c3',
    intervention: 'x',
    actor: 'ann',
    side: 'interventions',
  };
  expect(change(now, { history: `${id}:5` })).toEqual({ ...now, history: `${id}:5`, at: null });
  expect(change(now, { history: `${id}:5`, at: '@s7' })).toEqual({
    ...now,
    history: `${id}:5`,
    at: '@s7',
  });
  expect(change(now, { history: 'h' + 'b'.repeat(20) })).toEqual({
    ...NOWHERE,
    history: 'h' + 'b'.repeat(20),
    side: 'interventions',
  });
  expect(change(now, { node: 'n' })).toEqual({ ...now, intervention: null, node: 'n' });
  expect(change({ ...now, intervention: null, node: 'n' }, { intervention: 'y' })).toEqual({
    ...now,
    intervention: 'y',
  });
});
