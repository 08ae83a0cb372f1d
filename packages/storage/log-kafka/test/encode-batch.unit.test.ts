import fc from 'fast-check';
import kafkajs from 'kafkajs';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import theirCrc32C from 'kafkajs/src/protocol/recordBatch/crc32C/index.js';
import decodeBatch from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
import { zstdDecompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { crc32C } from '../src/protocol/crc-32c.ts';
import { encodeBatch, type Message } from '../src/protocol/encode-batch.ts';
import { decodeBatches } from '../src/protocol/record-batches.ts';

const RUNS = { numRuns: Number(process.env['STEMMA_RUNS'] ?? 100) };

const encoded = async (messages: readonly Message[]): Promise<Buffer> => {
  const { head, body } = await encodeBatch(messages, 1_790_000_000_000);
  return Buffer.concat([head, body]);
};

beforeAll(() => {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: () => Promise.reject(new Error('the test only reads')),
    decompress: async (bytes: Buffer) => zstdDecompressSync(bytes),
  });
});

describe('record batches', () => {
  const header = fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }));
  const message = fc.record({
    key: fc.string({ unit: 'binary', maxLength: 200 }),
    value: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(20_000).map((size) => Buffer.alloc(size, 'ab')),
    ),
    // kafkajs misreads a header with the name of what every object has.
    headers: fc
      .array(header, { maxLength: 4 })
      .map((headers) => Object.fromEntries(headers.filter(([name]) => !(name in {})))),
  });

  it(
    'are read by kafkajs and by the log as they were given, keys, bytes and headers, small and large',
    { tags: ['record§1:record'] },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 70 }), async (messages) => {
          const bytes = await encoded(messages);
          const theirs = await decodeBatch(new Decoder(bytes));
          expect(
            theirs.records.map(({ key, value, headers }) => [
              String(key),
              value?.toString('hex'),
              Object.entries(headers).map(([name, text]) => [name, String(text)]),
            ]),
          ).toEqual(
            messages.map(({ key, value, headers }) => [
              Buffer.from(key).toString(),
              Buffer.from(value).toString('hex'),
              Object.entries(headers).map(([name, text]) => [
                Buffer.from(name).toString(),
                Buffer.from(text).toString(),
              ]),
            ]),
          );
          const { records, next } = decodeBatches(bytes, 0);
          expect(records.map(({ offset, key, bytes: value }) => [offset, key, Buffer.from(value)])).toEqual(
            messages.map(({ key, value }, i) => [i, Buffer.from(key).toString(), Buffer.from(value)]),
          );
          expect(next).toBe(messages.length);
        }),
        RUNS,
      );
    },
  );

  it('have the bytes that the protocol guide says, up to their records', async () => {
    const { head, body } = await encodeBatch(
      [
        { key: 'k', value: Buffer.from('value'), headers: { h: 'x' } },
        { key: '', value: Buffer.alloc(0) },
      ],
      0x0102030405,
    );
    const fields = [
      '0000000000000000', // offset
      (61 - 12 + body.length).toString(16).padStart(8, '0'),
      'ffffffff', // leader's epoch
      '02', // format
      crc32C(Buffer.concat([head.subarray(21), body]))
        .toString(16)
        .padStart(8, '0'),
      '0004', // zstd
      '00000001', // offset of the last record
      '0000000102030405', // first time
      '0000000102030405', // last time
      'ffffffffffffffff', // producer
      'ffff', // its epoch
      'ffffffff', // sequence
      '00000002', // records
    ];
    expect(head.toString('hex')).toBe(fields.join(''));
    // Length, attributes, time, offset, key, value, headers; numbers are zigzag varints.
    expect(zstdDecompressSync(body).toString('hex')).toBe(
      `20000000026b0a${Buffer.from('value').toString('hex')}0202680278` + `0c000002000000`,
    );
  });

  it('are not mixed up when several are encoded at once, however large', async () => {
    const batches = [0, 1, 2, 3].map((i) =>
      Array.from({ length: 40 + i }, (_, j) => ({ key: `${i}`, value: Buffer.alloc(20_000, i * 50 + j) })),
    );
    for (const [i, bytes] of (await Promise.all(batches.map(encoded))).entries())
      expect(decodeBatches(bytes, 0).records.map(({ bytes: value }) => Buffer.from(value))).toEqual(
        batches[i]!.map(({ value }) => value),
      );
  });
});

it('CRC-32C is that of RFC 3720 and of kafkajs, in one piece or in two', () => {
  // Appendix B.4: 32 bytes of zeros, of ones, and counting up.
  const vectors: readonly (readonly [Uint8Array, number])[] = [
    [new Uint8Array(32), 0x8a9136aa],
    [new Uint8Array(32).fill(255), 0x62a8ab43],
    [Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
  ];
  for (const [bytes, crc] of vectors) expect(crc32C(bytes)).toBe(crc);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, cut) => {
      expect(crc32C(bytes)).toBe(theirCrc32C(bytes));
      expect(crc32C(bytes.subarray(cut), crc32C(bytes.subarray(0, cut)))).toBe(crc32C(bytes));
    }),
    RUNS,
  );
});
