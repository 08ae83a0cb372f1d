import { fail } from '@stemma/errors';
import { crc32 } from 'node:zlib';

/*
 * A file of the spool: a line `stemma-exchange 1 CHECKSUM LENGTH`, and the JSON of the exchange. The checksum is CRC-32 in
 * hexadecimal, over the bytes of the JSON. Recorders of other languages write the same.
 */
const HEAD = /^stemma-exchange 1 ([0-9a-f]{8}) (\d{1,12})$/;
const NEWLINE = 10;

export const encodeExchangeFile = (json: string): Buffer => {
  const bytes = Buffer.from(json, 'utf8');
  return Buffer.concat([Buffer.from(`stemma-exchange 1 ${checksum(bytes)} ${bytes.length}\n`), bytes]);
};

/** @throws E_INPUT_SHAPE if the file is cut off or damaged */
export const decodeExchangeFile = (file: Uint8Array): string => {
  const end = file.subarray(0, 64).indexOf(NEWLINE);
  const [, sum, length] = HEAD.exec(Buffer.from(file.subarray(0, Math.max(end, 0))).toString('latin1')) ?? [];
  const bytes = file.subarray(end + 1);
  if (sum === undefined || bytes.length !== Number(length) || checksum(bytes) !== sum)
    throw fail('E_INPUT_SHAPE', 'an exchange that waits to be sent is damaged');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
};

const checksum = (bytes: Uint8Array): string => crc32(bytes).toString(16).padStart(8, '0');
