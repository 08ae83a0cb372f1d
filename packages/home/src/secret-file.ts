import { fail } from '@stemma/errors';
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
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
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const known = await readFile(path).catch(() => undefined);
    if (known?.length === BYTES) return new Uint8Array(known);
    if (known !== undefined) throw fail('E_IO', `${path} does not hold ${BYTES} bytes`);
    const temporary = `${path}.${randomBytes(6).toString('hex')}`;
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(randomBytes(BYTES));
      await file.sync();
    } finally {
      await file.close();
    }
    // Another process may have been first: then its bytes count.
    await link(temporary, path).catch(() => undefined);
    await rm(temporary);
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('E_')) throw error;
    throw fail('E_IO', `the key ${name} cannot be kept in ${folder}`);
  }
};
