import { expect, it } from 'vitest';
import { errorToJson, fail, shownAddress, withoutCredentials } from './index.ts';

it.each([
  ['kafka://ana:hunter2@host:9092/p', 'kafka://…@host:9092/p'],
  ['kafka://ana:hun/ter2@host:9092/p', 'kafka://…@host:9092/p'],
  ['kafka://a:1,ana:hunter2@host:9092/p', 'kafka://…@host:9092/p'],
  ['postgres://ana:hun@ter2#?@host/db is wrong', 'postgres://…@host/db is wrong'],
  ['set it to postgres://USER@HOST:PORT/DB', 'set it to postgres://USER@HOST:PORT/DB'],
  [`x kafka://ana:${'p'.repeat(2_000)}@host:1/p`, 'x …@host:1/p'],
  ['postgresql://ana@host/db', 'postgresql://…@host/db'],
  [
    'there is no home in /homes/postgres:/ana:hunter2@host/db',
    'there is no home in /homes/postgres:/…@host/db',
  ],
  ['http://ana:hunter2@host/v1 and https://bo:pw@x', 'http://…@host/v1 and https://…@x'],
  ['https://ana:hun/ter2@host/v1', 'https://…@host/v1'],
  ['http://127.0.0.1:7836/mine@c6', 'http://127.0.0.1:7836/mine@c6'],
  ['http://[::1]:80/mine@c6', 'http://[::1]:80/mine@c6'],
  ['https://host/@scope/name', 'https://host/@scope/name'],
  ['snapshot @c6 of mine, ana@host.example', 'snapshot @c6 of mine, ana@host.example'],
])('%s is shown without credentials', (text, expected) => {
  expect(withoutCredentials(text)).toBe(expected);
});

it('an address is shown without credentials though its password holds blanks and quotes', () => {
  expect(shownAddress('kafka://ana:h "u" n@host:1/p')).toBe('kafka://…@host:1/p');
  expect(shownAddress('kafka:ana:hunter2@host')).toBe('kafka:…@host');
  expect(shownAddress('kafka://host:1/p')).toBe('kafka://host:1/p');
});

it.each(['a.', 'a:/', 'a://b'])(
  'a long text of %j is looked through in time that grows with its length',
  (part) => {
    const text = `@${part.repeat(300_000)}`;
    expect(withoutCredentials(text).endsWith(part)).toBe(true);
  },
);

it('no error holds the credentials of an address, in its sentence or in its facts', () => {
  const error = fail('E_USAGE', 'kafka://ana:hunter2@host is no address', { to: 'http://ana:hunter2@host' });
  expect(JSON.stringify(errorToJson(error)) + String(error.stack)).not.toContain('hunter2');
  expect(JSON.stringify(errorToJson(new Error('at http://ana:hunter2@host')))).not.toContain('hunter2');
});
