import { fail, isStemmaError, reasonOf } from '@stemma/errors';
import { isIrregular, readRegularFile, writeOnce } from '@stemma/machine';
import {
  decodePublicKey,
  decodeSigningKey,
  encodeSigningKey,
  signingKey,
  type NoteKey,
  type SigningKey,
} from '@stemma/merkle';
import { randomBytes } from 'node:crypto';

/** Bytes of the largest file that is read for a public key. */
const MOST_KEY = 64 * 1024;

/** The key in a file, made for a log if there is none: for its owner alone. @throws E_KEY_INVALID, E_IO */
export const openKeyFile = async (path: string, log: string): Promise<SigningKey> => {
  const there = await readKeyFile(path);
  if (there !== undefined) return there;
  const key = signingKey(`stemma.log/${log}`, randomBytes(32));
  // Whoever comes second uses the key of the first.
  writeOnce(path, `${encodeSigningKey(key)}\n`);
  return (await readKeyFile(path)) ?? key;
};

/** The key in a file; undefined without one. @throws E_KEY_INVALID */
export const readKeyFile = async (path: string): Promise<SigningKey | undefined> => {
  let text: string;
  try {
    text = readRegularFile(path).toString();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw fail('E_IO', `the key ${path} cannot be read: ${reasonOf(error)}`);
  }
  return decodeSigningKey(text);
};

/** A public key as it was printed, or a file that holds it. @throws E_KEY_INVALID */
export const publicKeyFrom = (given: string): NoteKey => {
  try {
    return decodePublicKey(given);
  } catch (error) {
    if (!isStemmaError(error, 'E_KEY_INVALID')) throw error;
    let text: string;
    try {
      text = readRegularFile(given, MOST_KEY).toString();
    } catch (reason) {
      throw fail(
        'E_KEY_INVALID',
        `this is neither a public key nor a file with one${isIrregular(reason) ? `: ${reasonOf(reason)}` : ''}`,
      );
    }
    return decodePublicKey(text);
  }
};
