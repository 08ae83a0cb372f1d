import { fail } from '@stemma/errors';
import { writeOnce } from '@stemma/machine';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEYS = 'keys';
const BYTES = 32;
const SUM_BYTES = 8;

/** A changed bit would make another secret, without a word. Files from before have no checksum. */
const sumOf = (secret: Uint8Array): Buffer =>
  createHash('sha256').update(secret).digest().subarray(0, SUM_BYTES);

/** @throws E_IO */
const secretIn = (bytes: Buffer, path: string): Uint8Array => {
  const secret = bytes.subarray(0, BYTES);
  if (
    bytes.length === BYTES ||
    (bytes.length === BYTES + SUM_BYTES && sumOf(secret).equals(bytes.subarray(BYTES)))
  )
    return new Uint8Array(secret);
  throw fail(
    'E_IO',
    `${path} is damaged: it does not hold the ${BYTES} bytes and the checksum that were written`,
  );
};

/**
 * A secret of this home, made at its first use: 32 random bytes, and their checksum, in a file of `keys/` that only the owner
 * reads. Of several processes that make it at once one wins.
 *
 * @throws E_IO
 */
export const secretOf = async (directory: string, name: string): Promise<Uint8Array> => {
  const folder = join(directory, KEYS);
  const path = join(folder, name);
  try {
    const known = await readFile(path).catch(() => undefined);
    if (known !== undefined) return secretIn(known, path);
    const secret = randomBytes(BYTES);
    // Another process may be first: then its bytes count.
    writeOnce(path, Buffer.concat([secret, sumOf(secret)]));
    return secretIn(await readFile(path), path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('E_')) throw error;
    throw fail('E_IO', `the key ${name} cannot be kept in ${folder}`);
  }
};
