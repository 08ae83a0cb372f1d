import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { withoutCoding } from './request-bytes.ts';

const plain = Buffer.from(
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi'.repeat(200) }] }),
);

test.each([
  ['none', plain],
  ['gzip', gzipSync(plain)],
  ['zstd', zstdCompressSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate without what should be around it', deflateRawSync(plain)],
  ['gzip, br', brotliCompressSync(gzipSync(plain))],
  ['deflate, zstd, gzip', gzipSync(zstdCompressSync(deflateSync(plain)))],
])('a recorded request is read without its content codings: %s', (_, bytes) => {
  expect(Buffer.from(withoutCoding(bytes)).equals(plain)).toBe(true);
});

test('a request that is no JSON in any coding stays as it is', () => {
  const noise = Buffer.from('no request');
  expect(withoutCoding(noise)).toEqual(noise);
});
