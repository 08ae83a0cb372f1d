/** What is wrong with a file, in a clause. */
export class LmdbDamage extends Error {}

/** @throws LmdbDamage */
export const damaged = (what: string): never => {
  throw new LmdbDamage(what);
};

/** The root of an empty tree. */
export const NO_PAGE = -1;

/** An unsigned integer of 64 bits, exact up to 2^53; {@link NO_PAGE} for the largest. */
export const integerAt = (bytes: Buffer, at: number): number => {
  const high = bytes.readUInt32LE(at + 4);
  const low = bytes.readUInt32LE(at);
  return high === 0xffffffff && low === 0xffffffff ? NO_PAGE : high * 2 ** 32 + low;
};
