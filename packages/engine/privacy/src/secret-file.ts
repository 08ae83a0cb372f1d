import { fail, reasonOf } from '@stemma/errors';
import { readRegularFile, writeOnce } from '@stemma/machine';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { noteFile, readNoted } from './noted-files.ts';

const KEYS = 'keys';
const BYTES = 32;
const SUM_BYTES = 8;

/** A changed bit would make another secret, without a word. Files from before have no checksum. */
const sumOf = (secret: Uint8Array): Buffer =>
  createHash('sha256').update(secret).digest().subarray(0, SUM_BYTES);

/** Tells a secret from another one: 256 random bits are not found by their hash. */
const printOf = (secret: Uint8Array): string =>
  createHash('sha256').update('stemma noted secret\0').update(secret).digest('hex');

/** A file that cannot be read is there: another one must not be made in its place. */
const readIfThere = (path: string): Buffer | undefined => {
  try {
    return readRegularFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

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
 * @throws E_FILE_GONE if the home had another one; E_IO
 */
export const secretOf = async (directory: string, name: string): Promise<Uint8Array> => {
  const path = join(directory, KEYS, name);
  try {
    let known = await readNoted(directory, `${KEYS}/${name}`, async () => readIfThere(path));
    if (known === undefined) {
      const secret = randomBytes(BYTES);
      // Another process may be first: then its bytes count.
      writeOnce(path, Buffer.concat([secret, sumOf(secret)]));
      known = readRegularFile(path);
    }
    const secret = secretIn(known, path);
    noteFile(directory, `${KEYS}/${name}`, printOf(secret));
    return secret;
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('E_')) throw error;
    throw fail('E_IO', `the key ${path} cannot be used: ${reasonOf(error)}`);
  }
};
