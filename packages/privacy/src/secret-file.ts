import { fail } from '@stemma/errors';
import { writeOnce } from '@stemma/machine';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEYS = 'keys';
const BYTES = 32;

/**
 * A secret of this home, made at its first use: 32 random bytes in a file of `keys/` that only the owner reads. Of
 * several processes that make it at once one wins.
 *
 * @throws E_IO
 */
export const secretOf = async (directory: string, name: string): Promise<Uint8Array> => {
  const folder = join(directory, KEYS);
  const path = join(folder, name);
  try {
    const known = await readFile(path).catch(() => undefined);
    if (known?.length === BYTES) return new Uint8Array(known);
    if (known !== undefined) throw fail('E_IO', `${path} does not hold ${BYTES} bytes`);
    // Another process may be first: then its bytes count.
    writeOnce(path, randomBytes(BYTES));
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('E_')) throw error;
    throw fail('E_IO', `the key ${name} cannot be kept in ${folder}`);
  }
};
