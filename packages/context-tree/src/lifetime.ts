import type { Region } from './node.ts';

/**
 * The cycle that takes a node of `ttl` N inserted (or moved out of `^sys`) while cycle `open` runs; null: it stays
 * (snapshots: expires). Under `^sys` only what has `ttl` 0 goes.
 */
export const expiryOnEntry = (ttl: number | null, open: number, inSys: boolean): number | null => {
  if (ttl === null) return null;
  if (ttl === 0) return open;
  return inSys ? null : open + ttl + 1;
};

/** The same for a node that comes in with an export of cycle `cycle` (context-tree §10.17). */
export const expiryOnImport = (ttl: number | null, cycle: number, region: Region): number | null => {
  if (ttl === null) return null;
  return region === '^seq' ? cycle + ttl + 1 : expiryOnEntry(ttl, cycle + 1, region === '^sys');
};

/** The `ttl` that a node shows when the newest commit was that of `cycle`; what stays shows what it was given. */
export const shownTtl = (ttl: number | null, expires: number | null, cycle: number): number | null => {
  if (ttl === null || expires === null) return ttl;
  const left = expires - 1 - cycle;
  return left < 0 ? 0 : left > ttl ? ttl : left;
};

/** In the tree hash, what stands for a `ttl` that is nearly over: a held node and one that goes next export alike. */
export const DUE = 'due';

/**
 * What stands for `ttl` in a node's digest (snapshots: tree hash): not what is left but when it ends, so that ageing
 * changes no digest. It follows from the shown value alone, so a state and its re-imported export agree.
 */
export const hashedTtl = (
  shown: number | null,
  cycle: number,
  frozen: boolean,
): number | null | typeof DUE => (shown === null || frozen ? shown : shown === 0 ? DUE : cycle + 1 + shown);
