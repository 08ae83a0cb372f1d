import { hashBytes, rowsDamaged, sealBytes, seedOf, unsealBytes } from '@stemma/row-store';
import { damageIn } from './lmdb-damage.ts';
import type { Bytes } from './lmdb-environment.ts';
import { bytesAt } from './tree-walks.ts';

/** The store's own records, each with a checksum over key and value that is looked at whenever it is read. */
export type OwnRecords = {
  /** @throws E_ROWS_DAMAGED, as every reading function */
  get(key: Buffer): Buffer | undefined;
  put(key: Buffer, value: Uint8Array): void;
  remove(key: Buffer): void;
  /** Records from `start` on and before `end`, in order. */
  range(start: Buffer, end: Buffer): Iterable<{ readonly key: Buffer; readonly value: Buffer }>;
  /** Removes records of a range; true if there may be more. */
  removeSome(start: Buffer, end: Buffer): boolean;
};

/** What errors call them. */
const OWN = 'own';
const SEED = seedOf({ name: OWN });

/** @param generation whose records they are, for errors; default: the store's */
export const ownRecords = (tree: Bytes, generation = 'the store'): OwnRecords => {
  const opened = (key: Buffer, sealed: Buffer): Buffer => {
    const value = unsealBytes(hashBytes(SEED, key), sealed);
    if (value === undefined) throw rowsDamaged(generation, OWN);
    return value;
  };
  return {
    get(key) {
      try {
        const sealed = bytesAt(tree, key);
        return sealed && opened(key, Buffer.from(sealed));
      } catch (error) {
        throw damageIn(error, generation, OWN);
      }
    },
    put: (key, value) => {
      tree.putSync(key, sealBytes(hashBytes(SEED, key), value));
    },
    remove: (key) => {
      tree.removeSync(key);
    },
    *range(start, end) {
      for (const { key, value } of tree.getRange({ start, end })) yield { key, value: opened(key, value) };
    },
    removeSome: (start, end) => removeSome(tree, start, end),
  };
};

/** Removes keys of a range; true if there may be more. */
export const removeSome = (tree: Bytes, start: Buffer, end: Buffer): boolean => {
  const keys = [...tree.getKeys({ start, end, limit: 10_000 })];
  for (const key of keys) tree.removeSync(key);
  return keys.length > 0;
};
