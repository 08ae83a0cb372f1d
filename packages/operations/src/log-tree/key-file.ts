import { fail, isStemmaError } from '@stemma/errors';
import {
  decodePublicKey,
  decodeSigningKey,
  encodeSigningKey,
  signingKey,
  type NoteKey,
  type SigningKey,
} from '@stemma/merkle';
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The key in a file, made for a log if there is none: for its owner alone. @throws E_KEY_INVALID, E_IO */
export const openKeyFile = async (path: string, log: string): Promise<SigningKey> => {
  const there = await readKeyFile(path);
  if (there !== undefined) return there;
  const key = signingKey(`stemma.log/${log}`, randomBytes(32));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${encodeSigningKey(key)}\n`);
    await file.sync();
    // Whoever comes second uses the key of the first.
    await link(temporary, path).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
  return (await readKeyFile(path)) ?? key;
};

/** The key in a file; undefined without one. @throws E_KEY_INVALID */
export const readKeyFile = async (path: string): Promise<SigningKey | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : decodeSigningKey(text);
};

/** A public key as it was printed, or a file that holds it. @throws E_KEY_INVALID */
export const publicKeyFrom = async (given: string): Promise<NoteKey> => {
  try {
    return decodePublicKey(given);
  } catch (error) {
    if (!isStemmaError(error, 'E_KEY_INVALID')) throw error;
    const text = await readFile(given, 'utf8').catch(() => undefined);
    if (text === undefined) throw fail('E_KEY_INVALID', 'this is neither a public key nor a file with one');
    return decodePublicKey(text);
  }
};
