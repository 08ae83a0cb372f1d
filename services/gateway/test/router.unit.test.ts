import { addressOf, ENDPOINTS, type Endpoint } from '@stemma/api';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { sized } from '@stemma/test-kit';
import { labelOf, queryOf, routeOf } from '../src/router.ts';

const endpoints = Object.entries(ENDPOINTS) as [string, Endpoint][];
const codeOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('every endpoint of the contract', () => {
  it('is found by the address that its client writes, with the parameters that the client gave', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => !/^\.+$/.test(one));
    fc.assert(
      fc.property(fc.constantFrom(...endpoints), text, text, ([name, endpoint], one, other) => {
        const params = Object.keys(endpoint.params?.shape ?? {});
        const given = Object.fromEntries(params.map((key, i) => [key, i === 0 ? one : other]));
        const query = Object.fromEntries(Object.keys(endpoint.query?.shape ?? {}).map((key) => [key, other]));
        const found = routeOf(endpoint.method, addressOf(endpoint, { ...query, ...given }));
        const expected = Object.fromEntries(Object.entries(query).filter(([key]) => !(key in given)));
        expect({ ...found, query: { ...queryOf(found.query) } }).toEqual({
          name,
          params: given,
          query: expected,
        });
      }),
      { numRuns: sized(1_000, 10_000) },
    );
  });

  it('has HEAD where it has GET and is no stream, and no other method', () => {
    const paths = Map.groupBy(endpoints, ([, { path }]) => path);
    for (const [path, own] of paths) {
      const target = path.replaceAll(/\{\w+\}/g, 'x');
      const [name] = own.find(([, { method, answer }]) => method === 'GET' && answer.kind !== 'stream') ?? [];
      const found = codeOf(() => routeOf('HEAD', target));
      expect(found).toMatchObject(name === undefined ? { code: 'E_METHOD_NOT_ALLOWED' } : { name });
      expect(codeOf(() => routeOf('DELETE', target))).toMatchObject({ code: 'E_METHOD_NOT_ALLOWED' });
    }
  });

  it('has a label that has none of its parameters in it', () => {
    expect(labelOf('command')).toBe('/api/histories/:history/commands');
    expect(labelOf('asset')).toBe('/assets/:name');
  });
});

test('a path that takes other methods says which', () => {
  expect(codeOf(() => routeOf('PUT', '/api/histories'))).toMatchObject({
    code: 'E_METHOD_NOT_ALLOWED',
    detail: { allow: 'GET, HEAD, POST' },
  });
});

test.each([
  '/api/nothing',
  '/api/histories/',
  '/api/histories//tree',
  '/API/histories',
  '/openapi.json/',
  '//',
  '/proxy/openai/v1/models',
])('%s is nobody’s, and the refusal does not repeat it', (target) => {
  expect(codeOf(() => routeOf('GET', target))).toMatchObject({
    code: 'E_NOT_FOUND',
    message: 'there is nothing at this address',
  });
});

test.each([
  ['/api/histories/%68a', 'history', { history: 'ha' }],
  ['/api/hist%6Fries/ha', 'history', { history: 'ha' }],
  ['/api/histories/x/../ha', 'history', { history: 'ha' }],
  ['/api/histories/x/%2e%2e/ha', 'history', { history: 'ha' }],
  ['/api/histories/..%2Fha', 'history', { history: '../ha' }],
  ['/api/histories/ha#x', 'history', { history: 'ha' }],
  ['/api/histories/%2541', 'history', { history: '%41' }],
  ['/api/histories/%zz%C3%A4x%e4', 'history', { history: '%zzäx%e4' }],
  ['/api/histories/ä b', 'history', { history: 'ä b' }],
  ['/assets/..%2Fpackage.json', 'asset', { name: '../package.json' }],
  ['/?x=1', 'page', {}],
])('the address %s is read as a browser reads it', (target, name, params) => {
  expect(routeOf('GET', target)).toMatchObject({ name, params });
});

test.each([
  ['', {}],
  ['a=1&b=&c&a=2&=x&&', { a: '1', b: '', c: '' }],
  ['a=1+2%2B3&%61b=x=y&c=%zz', { a: '1 2+3', ab: 'x=y', c: '%zz' }],
  ['toString=1&__proto__=2', { toString: '1', ['__proto__']: '2' }],
])('the query %s', (query, parameters) => {
  expect(Object.entries(queryOf(query))).toEqual(Object.entries(parameters));
});
