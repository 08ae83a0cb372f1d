import { compareCodePoints } from '@stemma/canonical';
import { fail, isStemmaError, reasonOf } from '@stemma/errors';
import { withoutKey, type FrameSealer } from '@stemma/log';
import { isPresent, readRegularFile, shredFile, syncFolderSync, writeOnce } from '@stemma/machine';
import { millisecondsOf } from '@stemma/values';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The keys of the erasable histories of a home, one file each, beside the log and never in it. */
export type Keyring = FrameSealer & {
  /** Makes a key for a history that is about to start, unless it has one. @throws E_HISTORY_ERASED */
  create(history: string, subject: string | null): void;
  /** The error that names the erasure of a history, with who, when and why; undefined if it is not erased. */
  erasureOf(history: string): Error | undefined;
  /** The error that says why the key of a history cannot be read; undefined if it can, or is not there. */
  sealedAs(history: string): Error | undefined;
  /** About whom a history was started that has its key here; undefined: it has none. */
  subjectOf(history: string): { readonly subject: string | null } | undefined;
  /** The erased histories, by id. */
  erased(): readonly string[];
  /** The histories that were started about a subject and are not erased, by id. */
  about(subject: string): readonly string[];
};

type KeyFile = { readonly subject: string | null; readonly key: string };

const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16];
const [LIVE, ERASED] = ['.key', '.erased'];

/** @param directory of the home */
export const openKeyring = (directory: string): Keyring => {
  const folder = join(directory, 'keys', 'histories');
  const cached = new Map<string, Buffer>();
  const pathOf = (history: string, kind: string): string =>
    join(folder, encodeURIComponent(history).replaceAll('.', '%2E') + kind);
  /** Whatever has the name of the mark, nobody uses the key. */
  const isErased = (history: string): boolean => isThere(pathOf(history, ERASED));

  /** @throws the system's error, ENOENT among them; an Error that names what is no key */
  const readKey = (path: string): KeyFile => {
    let file: KeyFile;
    try {
      file = JSON.parse(readRegularFile(path).toString()) as KeyFile;
      if (Buffer.from(file.key, 'base64').length === KEY_BYTES) return file;
    } catch (error) {
      if (error instanceof Error && 'code' in error) throw error;
    }
    throw new Error(`${path} is damaged: it holds no key`);
  };
  const read = (path: string): KeyFile | undefined => {
    try {
      return readKey(path);
    } catch {
      return undefined;
    }
  };
  /** Nobody is told of fewer histories than there are. @throws E_IO */
  const subjectIn = (path: string): string | null => {
    try {
      return readKey(path).subject;
    } catch (error) {
      throw fail('E_IO', `the key ${path} cannot be read: ${reasonOf(error)}`);
    }
  };
  const named = (kind: string): readonly string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith(kind))
          .map((name) => decodeURIComponent(name.slice(0, -kind.length)))
          .sort(compareCodePoints)
      : [];
  const sealedAs = (history: string): Error | undefined => {
    const path = pathOf(history, LIVE);
    try {
      readKey(path);
      return undefined;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      const why = `its key cannot be read: ${reasonOf(error)}`;
      return fail('E_HISTORY_SEALED', `the history ${history} is sealed, and ${why}`, { history });
    }
  };
  /** Another process may have destroyed the key: only its file says that it is there. */
  const keyOf = (history: string): Buffer => {
    const path = pathOf(history, LIVE);
    if (isErased(history) || !isThere(path)) {
      cached.get(history)?.fill(0);
      cached.delete(history);
      throw isErased(history) ? erased(history) : (sealedAs(history) ?? withoutKey(history));
    }
    const known = cached.get(history);
    if (known !== undefined) return known;
    const file = read(path);
    if (file === undefined) throw sealedAs(history) ?? withoutKey(history);
    const key = Buffer.from(file.key, 'base64');
    cached.set(history, key);
    return key;
  };

  return {
    erasureOf: (history) =>
      isErased(history) ? erasedAs(history, readErasure(pathOf(history, ERASED))) : undefined,
    sealedAs,
    erased: () => named(ERASED),
    // Most homes have no keys at all.
    seals: (history) => existsSync(folder) && (isThere(pathOf(history, LIVE)) || isErased(history)),
    canOpen: (history) => !isErased(history) && isThere(pathOf(history, LIVE)),
    create(history, subject) {
      if (isErased(history)) throw erased(history);
      if (read(pathOf(history, LIVE)) !== undefined) return;
      const file: KeyFile = { subject, key: randomBytes(KEY_BYTES).toString('base64') };
      keepOnce(pathOf(history, LIVE), JSON.stringify(file));
    },
    subjectOf: (history) => {
      const file = isErased(history) ? undefined : read(pathOf(history, LIVE));
      return file && { subject: file.subject };
    },
    about: (subject) =>
      named(LIVE).filter((history) => !isErased(history) && subjectIn(pathOf(history, LIVE)) === subject),
    seal(history, plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, keyOf(history), nonce).setAAD(context);
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open(history, sealed, context) {
      const key = keyOf(history);
      const body = NONCE_BYTES + TAG_BYTES;
      try {
        const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(context)
          .setAuthTag(sealed.subarray(NONCE_BYTES, body));
        return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(body)), decipher.final()]));
      } catch (error) {
        if (isStemmaError(error)) throw error;
        throw fail('E_FRAME_INVALID', `a sealed frame of ${history} does not open with its key`);
      }
    },
    destroy(history, { at, actor, reason }) {
      // First the mark: from here on nobody uses the key, whatever becomes of this process.
      keepOnce(pathOf(history, ERASED), JSON.stringify({ at: String(at), actor, reason }));
      cached.get(history)?.fill(0);
      cached.delete(history);
      shredFile(pathOf(history, LIVE));
      syncFolderSync(folder);
    },
  };
};

/** Whatever it is: what it is, reading it says. */
const isThere = (path: string): boolean => {
  try {
    return isPresent(path);
  } catch {
    return false;
  }
};

type ErasureFile = { readonly at?: string; readonly actor?: string; readonly reason?: string };

const readErasure = (path: string): ErasureFile => {
  try {
    return JSON.parse(readRegularFile(path).toString()) as ErasureFile;
  } catch {
    return {};
  }
};

const erasedAs = (history: string, { at, actor, reason }: ErasureFile): Error => {
  const day =
    at === undefined ? '' : ` on ${new Date(millisecondsOf(BigInt(at))).toISOString().slice(0, 10)}`;
  const by = actor === undefined || actor === '' ? '' : ` by ${actor}`;
  const why = reason === undefined || reason === '' ? '' : `: ${reason}`;
  return fail('E_HISTORY_ERASED', `the history ${history} was erased${day}${by}${why}`, { history });
};

const erased = (history: string): Error =>
  fail('E_HISTORY_ERASED', `the history ${history} was erased`, { history });

/** Durable when it returns; what is there stays. @throws E_IO */
const keepOnce = (path: string, text: string): void => {
  try {
    writeOnce(path, text);
  } catch (error) {
    throw fail('E_IO', `${path} cannot be written: ${reasonOf(error)}`);
  }
};
