import { expect, it } from 'vitest';
import { parseKafkaAddress } from '../src/index.ts';

it.each([
  ['kafka://localhost:9092/stemma', { brokers: ['localhost:9092'], prefix: 'stemma' }],
  ['kafka://a.b:1,c-d:65535/x.y_z-1', { brokers: ['a.b:1', 'c-d:65535'], prefix: 'x.y_z-1' }],
  ['kafka://a:1/p?partitions=12', { brokers: ['a:1'], prefix: 'p', partitions: 12 }],
])('the address %s names brokers and a prefix', (text, expected) => {
  expect(parseKafkaAddress(text)).toEqual(expected);
});

it.each([
  'kafka:/a:1/p',
  'kafka://a/p',
  'kafka://a:1',
  'kafka://a:1/',
  'kafka://a:65536/p',
  'kafka://a:0/p',
  'kafka://[::1]:9092/p',
  'kafka://a:1,/p',
  'kafka://u:p@a:1/p',
  'kafka://a:1/p/q',
  'kafka://a:1/p?partitions=0',
  'kafka://a:1/p?other=1',
  `kafka://a:1/${'p'.repeat(201)}`,
])('the address %s is refused', (text) => {
  expect(() => parseKafkaAddress(text)).toThrow(expect.objectContaining({ code: 'E_USAGE' }) as Error);
});

it.each([
  'kafka://ana:hunter2@host:9092/p',
  'kafka://ana:hun"ter2 hunter2@host:9092/p',
  'kafka://ana:hun/hunter2?#@host:9092/p',
  'kafka://host:9092,ana:hunter2@other:9092/p',
])('a password in a refused address is not repeated: %s', (text) => {
  try {
    parseKafkaAddress(text);
    expect.unreachable();
  } catch (error) {
    expect(String(error)).not.toContain('hunter2');
    expect(String(error)).toContain('STEMMA_KAFKA_PASSWORD_FILE');
  }
});
