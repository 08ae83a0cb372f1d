import { hashBytes, keyScratch, seedOf, writeUint } from '@stemma/row-store';
import { RecentMap } from '@stemma/values';
import type { OwnRecords } from './own-records.ts';

/** An owner's number, and what the checksums of its rows begin with: rows of another owner are noticed. */
export type Owner = { readonly number: number; readonly hash: number };

/**
 * Short numbers for the owners of rows (histories, mostly): a history's id is 21 bytes long and part of every key, so
 * keys hold its number instead, assigned with its first row. The order of owners is lost, which is why no range crosses
 * them. A number never changes, so it is cached.
 */
export type Owners = {
  /** The number of an owner, or undefined if it has no rows. */
  find(owner: string): Owner | undefined;
  /** Like `find`, in a write transaction: assigns a new number if there is none. Call `endTransaction` at its end. */
  assign(owner: string): Owner;
  endTransaction(committed: boolean): void;
  /** Every owner by its number. */
  all(): Map<number, { readonly text: string; readonly hash: number }>;
};

/** Owners whose numbers are known without a look: so many, and at most twice as many; about 150 bytes each. */
const KNOWN = 5_000;

export const ownersOf = (db: OwnRecords, head: Buffer): Owners => {
  /** Whoever owns rows is remembered for ever otherwise: a gateway meets a new owner with every conversation. */
  const known = new RecentMap<string, Owner>(KNOWN);
  let fresh = new Map<string, Owner>();
  const keyOf = (owner: string): Buffer => Buffer.concat([head, Buffer.of(0x01), Buffer.from(owner)]);
  const counter = Buffer.concat([head, Buffer.of(0x02)]);
  const numberAt = (key: Buffer): number | undefined => db.get(key)?.readUInt32BE(0);

  const find = (owner: string): Owner | undefined => {
    let found = known.get(owner);
    if (found === undefined && fresh.size > 0) found = fresh.get(owner);
    if (found !== undefined) return found;
    const number = numberAt(keyOf(owner));
    if (number === undefined) return undefined;
    found = { number, hash: hashOf(owner) };
    known.set(owner, found);
    return found;
  };

  return {
    find,
    assign(owner) {
      const found = find(owner);
      if (found !== undefined) return found;
      const number = numberAt(counter) ?? 0;
      db.put(counter, uint32(number + 1));
      db.put(keyOf(owner), uint32(number));
      const assigned = { number, hash: hashOf(owner) };
      fresh.set(owner, assigned);
      return assigned;
    },
    endTransaction(committed) {
      if (committed) for (const [owner, number] of fresh) known.set(owner, number);
      fresh = new Map();
    },
    all() {
      const start = Buffer.concat([head, Buffer.of(0x01)]);
      const owners = new Map<number, { text: string; hash: number }>();
      for (const { key, value } of db.range(start, counter)) {
        const text = key.subarray(start.length).toString();
        owners.set(value.readUInt32BE(0), { text, hash: hashOf(text) });
      }
      return owners;
    },
  };
};

const OWNER_SEED = seedOf({ name: 'owner' });
const hashOf = (owner: string): number => hashBytes(OWNER_SEED, Buffer.from(owner));

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** The bytes of an integer as keys hold it. */
export const uintBytes = (value: number): Buffer => Buffer.from(keyScratch.subarray(0, writeUint(0, value)));
