import type { Region } from './node.ts';

/**
 * The cycle that removes a node of `ttl` N inserted (or moved out of `^sys`) in cycle `open`; null: it stays
 * (snapshots: expires). Under `^sys` only a node with `ttl` 0 expires.
 */
export const expiryOnEntry = (ttl: number | null, open: number, inSys: boolean): number | null => {
  if (ttl === null) return null;
  if (ttl === 0) return open;
  return inSys ? null : open + ttl + 1;
};

/** The cycle that removes a node that enters with an export of cycle `cycle`; null: it stays (context-tree §10.17). */
export const expiryOnImport = (ttl: number | null, cycle: number, region: Region): number | null => {
  if (ttl === null) return null;
  return region === '^seq' ? cycle + ttl + 1 : expiryOnEntry(ttl, cycle + 1, region === '^sys');
};

/** The `ttl` shown after the commit of `cycle`; a node that stays shows the given one. */
export const shownTtl = (ttl: number | null, expires: number | null, cycle: number): number | null => {
  if (ttl === null || expires === null) return ttl;
  const left = expires - 1 - cycle;
  return left < 0 ? 0 : left > ttl ? ttl : left;
};

/** Replaces the `ttl` of a due node in the tree hash, because a held node and one that expires next export alike. */
export const DUE = 'due';

/**
 * The value for `ttl` in a node's digest (snapshots: tree hash): not the remaining cycles but the cycle in which it
 * ends, so that ageing changes no digest. It follows from the shown value alone, so a state and its re-imported export
 * agree.
 */
export const hashedTtl = (
  shown: number | null,
  cycle: number,
  frozen: boolean,
): number | null | typeof DUE => (shown === null || frozen ? shown : shown === 0 ? DUE : cycle + 1 + shown);
