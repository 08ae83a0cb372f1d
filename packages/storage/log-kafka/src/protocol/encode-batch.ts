import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync } from 'node:zlib';
import { crc32C } from './crc-32c.ts';

/** A record to send: a key, bytes, and headers, which are texts. */
export type Message = {
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A record batch of format 2, compressed with zstd: `record-batches.ts` has the layout. */
export type EncodedBatch = {
  /** All before the records. */
  readonly head: Buffer;
  readonly body: Buffer;
};

const RECORDS_AT = 61;
const ZSTD = 4;
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Below so many bytes, compressing takes less time than handing it to another thread. */
const HANDED_OVER = 64 * 1024;
/** Bytes that a batch of several records has at most before compression, and most batches of one record. */
const ROOM = 1024 * 1024;
const compress = promisify(zstdCompress);

/**
 * Encodes messages as one batch, all with the same timestamp (milliseconds since 1970). Kafka's protocol guide has the format
 * ("Record Batch"). A large batch is compressed in another thread, so that the one before it can be sent meanwhile.
 *
 * @param messages one at least
 */
export const encodeBatch = async (messages: readonly Message[], timestamp: number): Promise<EncodedBatch> => {
  const body = await compressed(messages);
  const head = Buffer.alloc(RECORDS_AT);
  // The broker gives the offsets and the leader's epoch.
  head.writeInt32BE(RECORDS_AT + body.length - 12, 8);
  head.writeInt32BE(-1, 12);
  head[16] = 2;
  head.writeInt16BE(ZSTD, 21);
  head.writeInt32BE(messages.length - 1, 23);
  head.writeBigInt64BE(BigInt(timestamp), 27);
  head.writeBigInt64BE(BigInt(timestamp), 35);
  // No idempotent producer: producer id, epoch and sequence are −1.
  head.fill(0xff, 43, 57);
  head.writeInt32BE(messages.length, 57);
  head.writeUInt32BE(crc32C(body, crc32C(head.subarray(21))), 17);
  return { head, body };
};

/** Memory of the last large batch, for the next: what lies outside of its heap makes V8 collect garbage very often. */
let spare = Buffer.alloc(0);

/** The records one behind the other, compressed as a whole. */
const compressed = async (messages: readonly Message[]): Promise<Buffer> => {
  // Sizes come first, because each record begins with its own.
  const sizes = messages.map(sizeOf);
  const size = sizes.reduce((sum, each) => sum + varintSize(each) + each, 0);
  if (size < HANDED_OVER) {
    const plain = Buffer.allocUnsafe(size);
    writeRecords(plain, messages, sizes);
    return zstdCompressSync(plain, LEVEL);
  }
  const room = spare.length < size ? Buffer.allocUnsafe(Math.max(size, ROOM)) : spare;
  spare = Buffer.alloc(0);
  const plain = room.subarray(0, size);
  writeRecords(plain, messages, sizes);
  // zlib takes a step, each handed over by itself, for so many bytes that come out: 16 KiB unless it is told.
  const body = await compress(plain, { ...LEVEL, chunkSize: size >>> 2 });
  if (room.length === ROOM) spare = room;
  return body;
};

const writeRecords = (bytes: Buffer, messages: readonly Message[], sizes: readonly number[]): void => {
  let at = 0;
  const number = (value: number): void => {
    let rest = zigzag(value);
    for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
    bytes[at++] = rest;
  };
  const text = (value: string): void => {
    number(Buffer.byteLength(value));
    at += bytes.write(value, at);
  };
  for (const [i, { key, value, headers }] of messages.entries()) {
    number(sizes[i]!);
    // Attributes, and how much later it is than the first.
    bytes[at++] = 0;
    bytes[at++] = 0;
    number(i);
    text(key);
    number(value.length);
    bytes.set(value, at);
    at += value.length;
    const named = Object.entries(headers ?? {});
    number(named.length);
    for (const header of named) header.forEach(text);
  }
};

/** The bytes of a record behind its length. */
const sizeOf = ({ key, value, headers }: Message, index: number): number => {
  const named = Object.entries(headers ?? {});
  let size = 2 + varintSize(index) + textSize(key) + varintSize(value.length) + value.length;
  size += varintSize(named.length);
  for (const [name, text] of named) size += textSize(name) + textSize(text);
  return size;
};

const textSize = (text: string): number => {
  const size = Buffer.byteLength(text);
  return varintSize(size) + size;
};

/** Non-negative numbers below 2³⁰ only: sizes and counts. */
const zigzag = (value: number): number => value << 1;

const varintSize = (value: number): number => {
  let size = 1;
  for (let rest = zigzag(value); rest > 127; rest >>>= 7) size++;
  return size;
};
