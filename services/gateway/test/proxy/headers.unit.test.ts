import { expect, test } from 'vitest';
import { headersForOther } from '../../src/proxy/headers.ts';

const CAME = [
  'Authorization',
  'Bearer mine',
  'OpenAI-Organization',
  'org',
  'Accept',
  '*/*',
  'anthropic-version',
  '1',
];
const upstream = new URL('https://api.example/v1');

test('the key of a client goes to its own provider only', () => {
  const url = new URL('https://other.example/v1/chat/completions');
  expect(headersForOther(CAME, { url, headers: {} }, upstream)).toEqual(CAME.slice(4));
  const there = new URL('https://api.example/v1/chat/completions');
  expect(headersForOther(CAME, { url: there, headers: {} }, upstream)).toEqual(CAME);
});

test('a key of the environment takes the place of that of the client, which says the version that it reads', () => {
  const headers = { authorization: 'Bearer other', 'anthropic-version': '2' };
  expect(headersForOther(CAME, { url: upstream, headers }, upstream)).toEqual([
    ...CAME.slice(4),
    ...['authorization', 'Bearer other'],
  ]);
});
