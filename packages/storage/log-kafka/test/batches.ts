import crc32C from 'kafkajs/src/protocol/recordBatch/crc32C/index.js';
import { zstdCompressSync } from 'node:zlib';

export type BatchOptions = { readonly control?: boolean; readonly zstd?: boolean };

/** A record batch as a broker stores it (record-batches.ts has the layout). */
export const batchOf = (
  base: number,
  records: readonly { readonly key: string | null; readonly value: string | Buffer }[],
  { control = false, zstd = false }: BatchOptions = {},
): Buffer => {
  const plain = Buffer.concat(records.map(({ key, value }, i) => recordOf(i, key, Buffer.from(value))));
  const body = zstd ? zstdCompressSync(plain) : plain;
  const batch = Buffer.alloc(61 + body.length);
  batch.writeBigInt64BE(BigInt(base), 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch[16] = 2;
  batch.writeInt16BE((zstd ? 4 : 0) | (control ? 0x30 : 0), 21);
  batch.writeInt32BE(records.length - 1, 23);
  batch.writeInt32BE(records.length, 57);
  body.copy(batch, 61);
  return sealBatch(batch);
};

/** Puts the right CRC into a batch that was changed. */
export const sealBatch = (batch: Buffer): Buffer => {
  batch.writeUInt32BE(crc32C(batch.subarray(21)) >>> 0, 17);
  return batch;
};

const recordOf = (delta: number, key: string | null, value: Buffer): Buffer => {
  const keyBytes = key === null ? Buffer.alloc(0) : Buffer.from(key);
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(0),
    varint(delta),
    varint(key === null ? -1 : keyBytes.length),
    keyBytes,
    varint(value.length),
    value,
    varint(0),
  ]);
  return Buffer.concat([varint(body.length), body]);
};

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
};
