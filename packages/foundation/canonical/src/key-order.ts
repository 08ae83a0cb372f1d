import { fail } from '@stemma/errors';
import { compareCodePoints } from './compare.ts';
import { isForbiddenKey } from './json-value.ts';

/** The keys that an object had until here, in the order in which it lists them. */
type Listed = {
  /** By the key that comes next. */
  readonly next: Map<string, Listed>;
  /** The key that came next when it was last asked, and what it led to: most objects have the keys of the one before. */
  latestKey: string | undefined;
  latest: Listed | undefined;
  /** The same keys by code point; undefined until somebody asks. */
  sorted: readonly string[] | undefined;
};

/** The most lists of keys that are kept: those of events, rows and usual attributes are some hundred. */
const MOST = 4096;
/** The most keys of an object, and units of a key, for which lists are kept. */
const MOST_KEYS = 64;
const LONGEST = 64;
const newList = (): Listed => ({
  next: new Map(),
  latestKey: undefined,
  latest: undefined,
  sorted: undefined,
});
let none = newList();
let kept = 0;

/**
 * The keys of an object by code point. Objects of one kind list the same keys in the same order, so the order is found by
 * following them, and sorted once.
 *
 * @throws E_INPUT_FORBIDDEN_KEY, E_INPUT_SURROGATE
 */
export const keysInOrder = (map: object): readonly string[] => {
  const keys = Object.keys(map);
  if (keys.length > MOST_KEYS) return sorted(keys);
  let listed = none;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (listed.latestKey === key) listed = listed.latest as Listed;
    else {
      if (key.length > LONGEST) return sorted(keys);
      const found = listed.next.get(key) ?? add(listed, key);
      listed.latestKey = key;
      listed.latest = found;
      listed = found;
    }
  }
  return (listed.sorted ??= keys.sort(compareCodePoints));
};

const sorted = (keys: string[]): readonly string[] => {
  for (const key of keys) refuseKey(key);
  return keys.sort(compareCodePoints);
};

const add = (listed: Listed, key: string): Listed => {
  refuseKey(key);
  // Objects whose keys never come again must not fill the memory: all begins anew, and `listed` is finished outside of it.
  if (++kept > MOST) {
    none = newList();
    kept = 0;
  }
  const longer = newList();
  listed.next.set(key, longer);
  return longer;
};

const refuseKey = (key: string): void => {
  if (isForbiddenKey(key)) throw fail('E_INPUT_FORBIDDEN_KEY', `an object has the forbidden key ${key}`);
  if (!key.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a key holds an unpaired surrogate');
};
