import { expect, test } from 'vitest';
import { addressOf } from '../../src/proxy/address.ts';

test.each([
  ['/proxy/openai/v1/x?k=1', { place: null, run: null, rerun: null, path: '/v1/x', query: '?k=1' }],
  ['/proxy/run/r1/openai/x', { place: { run: 'r1' }, run: null, rerun: null }],
  ['/proxy/steer/run/r1/openai/x', { place: { run: 'r1', steer: true }, run: null }],
  ['/proxy/history/shop:b/anthropic/x', { place: { name: 'shop:b' }, run: null, path: '/x' }],
  ['/proxy/history/shop/run/r1/openai/x', { place: { name: 'shop' }, run: 'r1', rerun: null, path: '/x' }],
  ['/proxy/steer/history/shop/run/r1/openai/x', { place: { name: 'shop', steer: true }, run: 'r1' }],
  ['/proxy/rerun/rerun-1/openai/x', { place: null, run: 'rerun-1', rerun: 'rerun-1' }],
])('%s says where a call is looked for, and which run makes it', (target, address) => {
  expect(addressOf(target, undefined)).toMatchObject(address);
});

test('a header names the place, and leaves the run', () => {
  expect(addressOf('/proxy/run/r1/openai/x', 'shop')).toMatchObject({ place: { name: 'shop' }, run: 'r1' });
  const both = addressOf('/proxy/history/a/run/r1/openai/x', 'shop');
  expect(both).toMatchObject({ place: { name: 'shop' }, run: 'r1' });
});

test.each(['/proxy/history/shop/rerun/r1/openai/x', '/proxy/run/r1/run/r2/openai/x', '/proxy/run//openai/x'])(
  '%s is refused',
  (target) => {
    expect(() => addressOf(target, undefined)).toThrow('a proxied path is');
  },
);
