import { sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openGateway } from '../src/gateway.ts';
import { withSafeHeaders } from '../src/headers.ts';
import { wholeEndpoints } from '../src/routes.ts';
import { fixtureHome } from './fixture-home.ts';

const home = fixtureHome([
  { history: 'ha', name: 'a', cycles: [[{ id: 'one', role: 'user', content: 'first' }]] },
  { history: 'hb', cycles: [] },
]);
const { app, answerPlainly } = openGateway({ home });

const asker = { connection: {}, program: async () => '' };

const both = async (method: string, target: string, body: string | null) => {
  const headers = new Map(body === null ? [] : [['content-type', 'application/json']]);
  const plain = await answerPlainly({
    method,
    target,
    header: (name) => headers.get(name),
    body: body === null ? null : Buffer.from(body),
    signal: () => new AbortController().signal,
    asker,
  });
  if (plain === undefined) return undefined;
  const request = new Request(`http://127.0.0.1${target}`, { method, headers: [...headers], body });
  const response = await app.fetch(request);
  return {
    plain: {
      status: plain.status,
      headers: withSafeHeaders(plain.headers),
      body: Buffer.from(plain.body ?? '').toString(),
    },
    web: {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    },
  };
};

const segment = fc.constantFrom(
  ...[
    'api',
    'histories',
    'ha',
    'hb',
    'a',
    'ha:0',
    'nobody',
    'snapshots',
    'tree',
    'thread',
    'select',
    'health',
  ],
  ...[
    'live',
    'ready',
    'commands',
    'events',
    'calls',
    '',
    '.',
    '..',
    '%61',
    'a+b',
    'a b',
    'x#y',
    'ä',
    '\\',
    '@c1',
  ],
);
const pair = fc
  .tuple(
    fc.constantFrom('at', 'limit', 'skip', 'name', 'since', 'selector', 'provider', '', '__proto__'),
    fc.constantFrom('', '=', '=@c1', '=1', '=a?b', '=a&limit=2', '=%40c1', '=a+b', '=#', '=toString'),
  )
  .map(([name, value]) => name + value);
const paths = wholeEndpoints().map(([, { path }]) => path.replaceAll(/\{\w+\}/g, 'ha'));
const path = fc.oneof(
  fc.constantFrom(...paths),
  fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`),
  fc.array(segment, { maxLength: 2 }).map((segments) => `/api/histories/ha/${segments.join('/')}`),
);
const target = fc
  .tuple(path, fc.array(pair, { maxLength: 3 }))
  .map(([address, query]) => address + (query.length === 0 ? '' : `?${query.join('&')}`));

it('an endpoint answers the same on the short way as through the router of all requests', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(
      target,
      fc.constantFrom('GET', 'POST'),
      fc.constantFrom('{}', '[]', '{', '{"id":"x","recorder":"r","steps":[]}'),
      async (address, method, body) => {
        const found = await both(method, address, method === 'POST' ? body : null);
        if (found === undefined) return;
        answered++;
        expect(found.plain).toEqual(found.web);
      },
    ),
    { numRuns: sized(400, 2_000) },
  );
  expect(answered).toBeGreaterThan(10);
});

it.each([
  '/api/histories/%68a',
  '/api/histories/../histories',
  '/api/histories/ha#x',
  '/metrics',
  '/',
  '/api/events',
])(
  'what has to be decoded, and what no endpoint answers whole, is left to the router: %s',
  async (address) => {
    expect(await both('GET', address, null)).toBeUndefined();
  },
);
