import { keyScratch, writeUint } from '@stemma/row-store';
import type { Bytes } from './lmdb-environment.ts';

/**
 * Short numbers for the owners of rows (histories, mostly): a history's id is 21 bytes long and part of every key, so
 * keys hold its number instead, assigned with its first row. The order of owners is lost, which is why no range crosses
 * them. A number never changes, so it is cached.
 */
export type Owners = {
  /** The number of an owner, or undefined if it has no rows. */
  find(owner: string): number | undefined;
  /** Like `find`, in a write transaction: assigns a new number if there is none. Call `endTransaction` at its end. */
  assign(owner: string): number;
  endTransaction(committed: boolean): void;
  /** Every owner by its number. */
  all(): Map<number, string>;
};

export const ownersOf = (db: Bytes, head: Buffer): Owners => {
  const known = new Map<string, number>();
  let fresh = new Map<string, number>();
  const keyOf = (owner: string): Buffer => Buffer.concat([head, Buffer.of(0x01), Buffer.from(owner)]);
  const counter = Buffer.concat([head, Buffer.of(0x02)]);
  const numberAt = (key: Buffer): number | undefined => db.get(key)?.readUInt32BE(0);

  const find = (owner: string): number | undefined => {
    let number = known.get(owner);
    if (number === undefined && fresh.size > 0) number = fresh.get(owner);
    if (number !== undefined) return number;
    number = numberAt(keyOf(owner));
    if (number !== undefined) known.set(owner, number);
    return number;
  };

  return {
    find,
    assign(owner) {
      let number = find(owner);
      if (number !== undefined) return number;
      number = numberAt(counter) ?? 0;
      db.putSync(counter, uint32(number + 1));
      db.putSync(keyOf(owner), uint32(number));
      fresh.set(owner, number);
      return number;
    },
    endTransaction(committed) {
      if (committed) for (const [owner, number] of fresh) known.set(owner, number);
      fresh = new Map();
    },
    all() {
      const start = Buffer.concat([head, Buffer.of(0x01)]);
      const owners = new Map<number, string>();
      for (const { key, value } of db.getRange({ start, end: counter }))
        owners.set(value.readUInt32BE(0), key.subarray(start.length).toString());
      return owners;
    },
  };
};

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** The bytes of an integer as keys hold it. */
export const uintBytes = (value: number): Buffer => Buffer.from(keyScratch.subarray(0, writeUint(0, value)));
