import { createClient } from '@stemma/api';
import { StemmaError } from '@stemma/errors';
import { describe, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';
import { fixtureHome } from './fixture-home.ts';

const home = fixtureHome([
  { history: 'hfirst', name: 'airline', cycles: [[{ id: 'ask', content: 'Hello' }]] },
  { history: 'hother', cycles: [], state: 'damaged' },
]);
const app = createGateway({ home });
const client = createClient(async (url, options) => app.request(url, options), '');

describe('refusals', () => {
  test.each([
    ['an unknown history', () => client.history({ history: 'nobody' }), 'E_HISTORY_NOT_FOUND'],
    [
      'a snapshot that does not exist',
      () => client.tree({ history: 'airline', at: '@c99' }),
      'E_SNAPSHOT_NOT_FOUND',
    ],
    ['an unknown node', () => client.node({ history: 'airline', node: '../../etc' }), 'E_NODE_NOT_FOUND'],
  ])('%s is a coded error', async (_, ask, code) => {
    await expect(ask()).rejects.toThrow(StemmaError);
    await expect(ask()).rejects.toMatchObject({ code });
  });

  test.each([
    ['/api/histories?limit=-1', 400, 'E_USAGE'],
    ['/api/histories?limits=1', 400, 'E_USAGE'],
    ['/api/nothing', 404, 'E_NOT_FOUND'],
    ['/assets/..%2Fpackage.json', 404, 'E_NOT_FOUND'],
    ['/assets/none.js', 404, 'E_NOT_FOUND'],
  ])('GET %s is answered with %i and %s', async (path, status, code) => {
    const response = await app.request(path);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
  });

  test.each([
    ['{"id":"c1","id":"c2"}', 'E_INPUT_REPEATED_KEY'],
    ['{"steps":[{"op":"commit","\\u006fp":"start"}]}', 'E_INPUT_REPEATED_KEY'],
    [`{"\\n"${' '.repeat(8_000_000)}:1}`, 'E_COMMAND_INVALID'],
    ['{"a":1}\u0000', 'E_INPUT_NOT_JSON'],
    [`[${'{},'.repeat(2_500_000)}{}]`, 'E_INPUT_TOO_LARGE'],
  ])('a body of hostile JSON is refused with a code: %#', async (body, code) => {
    const headers = { 'content-type': 'application/json' };
    const response = await app.request('/api/histories/airline/commands', { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
  });

  test.each([
    ['a host name that another site points here', { host: 'evil.example:4870' }],
    ['a page of another origin', { origin: 'http://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['a page of another port', { origin: 'http://localhost:3000' }],
    ['a picture in a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same machine on another port', { 'sec-fetch-site': 'same-site' }],
  ])('a request from %s is refused, whatever its path', async (_, headers) => {
    for (const path of ['/api/histories', '/api/events', '/openapi.json', '/health/live']) {
      const response = await app.request(path, { headers });
      expect([response.status, await response.json()]).toMatchObject([
        403,
        { error: { code: 'E_NOT_ALLOWED' } },
      ]);
    }
  });

  test('the gateway accepts requests from its own page', async () => {
    const headers = {
      host: 'localhost:4870',
      origin: 'http://localhost:4870',
      'sec-fetch-site': 'same-origin',
    };
    expect((await app.request('/api/histories', { headers })).status).toBe(200);
  });

  test('a damaged history is reported in the list of histories and by verify', async () => {
    expect((await client.history({ history: 'hother' })).state).toBe('damaged');
    expect(await client.verify({})).toEqual({ ok: false, histories: 2, damaged: ['hother'], defective: [] });
  });

  test('an unexpected error is answered with E_INTERNAL, and logged', async () => {
    const reported: unknown[] = [];
    const broken = createGateway({
      home: { ...home, read: { ...home.read, listHistories: () => Promise.reject(new TypeError('oops')) } },
      report: (error) => reported.push(error),
    });
    const response = await broken.request('/api/histories');
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'E_INTERNAL' } }]);
    expect(reported).toEqual([new TypeError('oops')]);
  });
});

describe('the page', () => {
  test('while the page is not built, the server says how to build it', async () => {
    const response = await createGateway({ home, page: '/nowhere' }).request('/');
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('pnpm --filter @stemma/inspector build');
  });

  test('the headers of every answer forbid foreign scripts, frames and content sniffing', async () => {
    for (const path of ['/', '/api/histories', '/api/nothing']) {
      const { headers } = await app.request(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});
