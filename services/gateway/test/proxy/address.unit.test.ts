import { expect, test } from 'vitest';
import { addressOf, routeOf, upstreamsOf } from '../../src/proxy/address.ts';

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

const upstreams = upstreamsOf({ STEMMA_UPSTREAM_AZURE: 'http://127.0.0.1:9/base/' });

test.each([
  ['/proxy/gemini/v1beta/models/m:generateContent?alt=sse', '/v1beta/models/m:generateContent?alt=sse'],
  ['/proxy/cohere/v2/chat', '/v2/chat'],
  ['/proxy/ollama/api/chat', '/api/chat'],
  ['/proxy/mistral/v1/chat/completions', '/v1/chat/completions'],
  ['/proxy/azure/openai/deployments/d/chat/completions', '/base/openai/deployments/d/chat/completions'],
  ['/proxy/anthropic', ''],
  ['/proxy/anthropic/api/hello', '/api/hello'],
  ['/proxy/anthropic/messages', '/v1/messages'],
  ['/proxy/openai/v1/responses', '/v1/responses'],
  ['/proxy/openai/responses', '/v1/responses'],
])('%s goes to %s', (path, target) => {
  expect(routeOf(upstreams, addressOf(path, undefined)).target).toBe(target);
});

test('a provider without an address of its own needs one', () => {
  expect(() => routeOf(upstreams, addressOf('/proxy/bedrock/x', undefined))).toThrow(
    'set STEMMA_UPSTREAM_BEDROCK',
  );
});
