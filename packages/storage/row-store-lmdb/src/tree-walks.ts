import type { Bytes } from './lmdb-environment.ts';

/** From `start` to `end`, which lies behind it in the direction of the walk. */
export type TreeWalk = {
  readonly start: Buffer;
  readonly end: Buffer;
  readonly reverse?: boolean;
  readonly exclusiveStart?: boolean;
  readonly inclusiveEnd?: boolean;
};

type WalkOf<T> = {
  readonly options: { -readonly [K in keyof TreeWalk]: TreeWalk[K] };
  readonly found: Iterable<T>;
};
type Walks = {
  readonly keys: WalkOf<Buffer>;
  readonly entries: WalkOf<{ readonly key: Buffer; readonly value: Buffer }>;
};

const NONE = Buffer.alloc(0);

/**
 * The iterables of each tree. lmdb reads their options when an iteration begins, and to make an iterable takes it longer than
 * to find a key.
 */
const walksOf = new WeakMap<Bytes, Walks>();

const walksIn = (tree: Bytes): Walks => {
  const known = walksOf.get(tree);
  if (known !== undefined) return known;
  const optionsOf = () => ({
    start: NONE,
    end: NONE,
    reverse: false,
    exclusiveStart: false,
    inclusiveEnd: false,
  });
  const [forKeys, forEntries] = [optionsOf(), optionsOf()];
  const walks = {
    keys: { options: forKeys, found: tree.getKeys(forKeys) },
    entries: { options: forEntries, found: tree.getRange(forEntries) },
  };
  walksOf.set(tree, walks);
  return walks;
};

const begin = <T>({ options, found }: WalkOf<T>, walk: TreeWalk): Iterable<T> => {
  options.start = walk.start;
  options.end = walk.end;
  options.reverse = walk.reverse ?? false;
  options.exclusiveStart = walk.exclusiveStart ?? false;
  options.inclusiveEnd = walk.inclusiveEnd ?? false;
  return found;
};

/** The keys on the way. One walk of a tree at a time: the next one ends it. */
export const keysOn = (tree: Bytes, walk: TreeWalk): Iterable<Buffer> => begin(walksIn(tree).keys, walk);

/** The same with their values. */
export const entriesOn = (
  tree: Bytes,
  walk: TreeWalk,
): Iterable<{ readonly key: Buffer; readonly value: Buffer }> => begin(walksIn(tree).entries, walk);

/** The bytes under a key, without a copy: valid until the next read. */
export const bytesAt = (tree: Bytes, key: Buffer): Uint8Array | undefined => {
  const found = tree.getBinaryFast(key);
  // What lmdb gives is longer than it says, and slow to read.
  return found && new Uint8Array(found.buffer, found.byteOffset, found.length);
};
