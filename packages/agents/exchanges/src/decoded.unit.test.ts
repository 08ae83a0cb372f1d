import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decoded } from './decoded.ts';

const plain = Buffer.from(
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi'.repeat(200) }] }),
);

test.each([
  ['gzip', gzipSync(plain)],
  ['x-gzip', gzipSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['zstd', zstdCompressSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['identity', plain],
  ['', plain],
  ['identity, GZIP ,', gzipSync(plain)],
  ['gzip, br', brotliCompressSync(gzipSync(plain))],
  ['deflate,zstd,gzip', gzipSync(zstdCompressSync(deflateSync(plain)))],
])(
  'a body that came with the content coding %j is read without it',
  { tags: ['calls§4.1'] },
  async (coding, bytes) => {
    expect(Buffer.from(await decoded(bytes, coding)).equals(plain)).toBe(true);
  },
);

test.each([
  ['compress', plain],
  ['gzip, compress', gzipSync(plain)],
  ['br, gzip', brotliCompressSync(gzipSync(plain))],
  ['gzip', gzipSync(plain).subarray(0, 40)],
  ['gzip, gzip, gzip, gzip, gzip', gzipSync(plain)],
  ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(2 * 1024 * 1024)))],
  ['constructor', plain],
])('a body whose content coding %j is unknown, wrong or too much stays as it is', async (coding, bytes) => {
  expect(Buffer.from(await decoded(bytes, coding)).equals(bytes)).toBe(true);
});
