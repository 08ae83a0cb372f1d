import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeBatches, MAX_BATCH_BYTES } from '../src/protocol/record-batches.ts';
import { batchOf, sealBatch } from './batches.ts';

const RUNS = { numRuns: Number(process.env['STEMMA_RUNS'] ?? 100) };

it(
  'the records of batches are read back from any offset on, whatever the compression, and with the last batch cut off',
  { tags: ['record§1:record'] },
  () => {
    const record = fc.record({ key: fc.option(fc.string()), value: fc.uint8Array({ maxLength: 300 }) });
    const batch = fc.record({
      records: fc.array(record, { minLength: 1, maxLength: 9 }),
      zstd: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 6 }), fc.nat(60), fc.nat(80), (batches, from, cut) => {
        const all: { offset: number; key: string | null; value: string }[] = [];
        const bytes = batches.map(({ records, zstd }) => {
          const base = all.length;
          for (const { key, value } of records)
            all.push({ offset: all.length, key, value: Buffer.from(value).toString('hex') });
          return batchOf(
            base,
            records.map(({ key, value }) => ({ key, value: Buffer.from(value) })),
            { zstd },
          );
        });
        const more = batchOf(all.length, [{ key: 'cut', value: 'x'.repeat(100) }]).subarray(0, cut);
        const { records, next } = decodeBatches(Buffer.concat([...bytes, more]), from);
        expect(
          records.map(({ offset, key, bytes: value }) => ({
            offset,
            key,
            value: Buffer.from(value).toString('hex'),
          })),
        ).toEqual(all.filter(({ offset }) => offset >= from));
        expect(records.some(({ damaged }) => damaged)).toBe(false);
        expect(next).toBe(Math.max(from, all.length));
      }),
      RUNS,
    );
  },
);

it(
  'a batch with a changed byte is read as one damaged record, and the batches around it are read whole',
  { tags: ['record§2:damaged'] },
  () => {
    const [before, batch, after] = [
      batchOf(0, [{ key: 'h', value: 'one' }]),
      batchOf(
        1,
        [1, 2, 3].map((i) => ({ key: 'h', value: `value ${i}` })),
        { zstd: true },
      ),
      batchOf(4, [{ key: 'h', value: 'five' }]),
    ] as const;
    fc.assert(
      fc.property(
        fc.integer({ min: 17, max: batch.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        (at, change) => {
          // The offset of the last record is what says where the next batch begins: the broker's index has it too.
          fc.pre(at < 23 || at > 26);
          const changed = Buffer.from(batch);
          changed[at] = (changed[at] ?? 0) ^ change;
          const { records } = decodeBatches(Buffer.concat([before, changed, after]), 0);
          expect(records.map(({ offset, next, damaged }) => [offset, next, damaged])).toEqual([
            [0, 1, false],
            [1, 4, true],
            [4, 5, false],
          ]);
        },
      ),
      RUNS,
    );
  },
);

it(
  'random bytes throw no error and give no record without the mark damaged',
  { tags: ['record§1:bounded-decoding'] },
  () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 61, maxLength: 400 }), fc.boolean(), (noise, sealed) => {
        const batch = Buffer.from(noise);
        batch.writeInt32BE(batch.length - 12, 8);
        batch[16] = 2;
        batch.writeInt16BE(0, 21);
        if (sealed) sealBatch(batch);
        const { records } = decodeBatches(batch, 0);
        if (!sealed) expect(records.every(({ damaged }) => damaged)).toBe(true);
        expect(records.length).toBeLessThan(400);
      }),
      RUNS,
    );
  },
);

it(
  'a small batch that would decompress beyond its bound is a damaged record, and uses no memory beyond the bound',
  { tags: ['record§1:bounded-decoding'] },
  () => {
    const bomb = batchOf(7, [{ key: 'h', value: Buffer.alloc(MAX_BATCH_BYTES) }], { zstd: true });
    expect(bomb.length).toBeLessThan(10_000);
    expect(decodeBatches(bomb, 0).records).toEqual([
      { offset: 7, next: 8, key: null, bytes: new Uint8Array(), keyVouched: false, damaged: true },
    ]);
  },
);
