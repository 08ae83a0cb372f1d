import { readVarint } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { LogRecord } from '@stemma/log';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { crc32C } from './crc-32c.ts';

/*
 * Record batches as brokers store them, format 2 (Kafka's protocol guide, "Record Batch"):
 *
 *   base offset 8, length 4, leader epoch 4, format 1, CRC-32C 4 (of all that follows),
 *   attributes 2 (compression in bits 0–2, control in bit 5), last offset delta 4, timestamps 8 + 8,
 *   producer id 8, epoch 2, sequence 4, number of records 4, records (compressed as a whole)
 *
 *   record: length varint, attributes 1, timestamp delta varint, offset delta varint,
 *   key length varint (−1: none), key, value length varint (−1: none), value, headers
 *
 * kafkajs decodes them too. But it does not check the CRC, its consumer ends at a batch that decompresses to too many
 * bytes, and it makes a dozen objects for each record.
 */
const LENGTH_AT = 8;
const FORMAT_AT = 16;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const COUNT_AT = 57;
const RECORDS_AT = 61;
const CONTROL = 0x20;

/** The most bytes that one batch may decompress to. Batches of Stemma have at most 900 KiB, or one record. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

/** Records in order, and the offset after the last batch. A control batch has no records, so only the offset shows it. */
export type DecodedRecords = { readonly records: readonly LogRecord[]; readonly next: number };

/**
 * Decodes whole batches. A batch whose CRC is wrong, or that decompresses to more than {@link MAX_BATCH_BYTES}, becomes one
 * damaged record in its place. Control batches become gaps. A batch that is cut off at the end is left out.
 *
 * @param from the first offset wanted; a batch may begin with earlier records, which are left out.
 * @throws E_LOG_MISMATCH for a batch with a compression that Stemma does not read.
 */
export const decodeBatches = (bytes: Buffer, from: number): DecodedRecords => {
  const records: LogRecord[] = [];
  let next = from;
  for (let at = 0; at + RECORDS_AT <= bytes.length;) {
    const size = bytes.readInt32BE(at + LENGTH_AT) + 12;
    if (size < RECORDS_AT || at + size > bytes.length) break;
    const batch = bytes.subarray(at, at + size);
    at += size;
    const base = readOffset(batch);
    const behind = base + Math.max(batch.readInt32BE(LAST_DELTA_AT), 0) + 1;
    if (behind <= next) continue;
    for (const record of decodeBatch(batch, base, behind)) if (record.offset >= from) records.push(record);
    next = behind;
  }
  return { records, next };
};

const readOffset = (batch: Buffer): number => batch.readInt32BE(0) * 2 ** 32 + batch.readUInt32BE(4);

const decodeBatch = (batch: Buffer, base: number, behind: number): readonly LogRecord[] => {
  const damaged = {
    offset: base,
    next: behind,
    key: null,
    bytes: new Uint8Array(),
    keyVouched: false,
    damaged: true,
  };
  if (batch[FORMAT_AT] !== 2) return [damaged];
  if (batch.readUInt32BE(CRC_AT) !== crc32C(batch.subarray(ATTRIBUTES_AT))) return [damaged];
  const attributes = batch.readInt16BE(ATTRIBUTES_AT);
  if ((attributes & CONTROL) !== 0) return [];
  const body = decompress(attributes & 7, batch.subarray(RECORDS_AT));
  return (body && decodeRecords(body, base, batch.readInt32BE(COUNT_AT), behind)) ?? [damaged];
};

/** The decompressed bytes; undefined if they are damaged or too many. */
const decompress = (codec: number, body: Buffer): Buffer | undefined => {
  const unpack = codec === 1 ? gunzipSync : codec === 4 ? zstdDecompressSync : undefined;
  if (codec === 0) return body;
  if (!unpack)
    throw fail(
      'E_LOG_MISMATCH',
      `a batch in the topic is compressed with codec ${codec}, which Stemma cannot read`,
      {
        codec,
      },
    );
  try {
    return unpack(body, { maxOutputLength: MAX_BATCH_BYTES });
  } catch {
    return undefined;
  }
};

/** The records; undefined unless the bytes are exactly `count` of them. */
const decodeRecords = (
  body: Buffer,
  base: number,
  count: number,
  behind: number,
): readonly LogRecord[] | undefined => {
  const reader = openReader(body);
  const records: LogRecord[] = [];
  let offset = base - 1;
  for (let i = 0; i < count; i++) {
    const end = reader.varint() + reader.at();
    if (!(end <= body.length)) return undefined;
    reader.skip(1);
    reader.varint();
    const own = base + reader.varint();
    const key = reader.bytes();
    const value = reader.bytes();
    if (reader.failed() || reader.at() > end || own <= offset || own >= behind) return undefined;
    reader.skip(end - reader.at());
    offset = own;
    records.push({
      offset,
      next: offset + 1,
      key: key === null ? null : key.toString('utf8'),
      bytes: value ?? new Uint8Array(),
      // The CRC of the batch covers the key.
      keyVouched: key !== null,
      damaged: false,
    });
  }
  const last = records.at(-1);
  if (!last || reader.failed() || reader.at() !== body.length) return undefined;
  records[records.length - 1] = { ...last, next: behind };
  return records;
};

type Reader = {
  readonly at: () => number;
  readonly failed: () => boolean;
  readonly skip: (bytes: number) => void;
  readonly varint: () => number;
  readonly bytes: () => Buffer | null;
};

/** A reader of numbers and bytes. After the end of the bytes it returns zeros, and `failed` is true. */
const openReader = (body: Buffer): Reader => {
  const cursor = { at: 0 };
  let failed = false;
  const skip = (bytes: number): void => {
    if (!(bytes >= 0 && cursor.at + bytes <= body.length)) failed = true;
    else cursor.at += bytes;
  };
  /** A zigzag varint, exact to 53 bits; no length or offset of a record needs more. */
  const varint = (): number => {
    const value = readVarint(body, cursor);
    if (value !== undefined) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    failed = true;
    return 0;
  };
  const bytes = (): Buffer | null => {
    const length = varint();
    if (length < 0) return null;
    const from = cursor.at;
    skip(length);
    return body.subarray(from, cursor.at);
  };
  return { at: () => cursor.at, failed: () => failed, skip, varint, bytes };
};
