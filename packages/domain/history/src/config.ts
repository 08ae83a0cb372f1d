import { canonicalJson, compareCodePoints, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';

/** The general configuration at a position, by key. A key that is not set has no entry. */
export type Config = { readonly [key: string]: WideJson };

export const NO_CONFIG: Config = Object.freeze({});

/** A new value for one key; null: not set. */
export type ConfigChange = { readonly key: string; readonly from: WideJson; readonly to: WideJson };

/**
 * The configuration after changes, keys by code point.
 *
 * @throws E_HISTORY_DEFECTIVE when a change does not start from the current value.
 */
export const changedConfig = (config: Config, changes: readonly ConfigChange[]): Config => {
  const next = new Map(Object.entries(config));
  for (const { key, from, to } of changes) {
    if (canonicalJson(next.get(key) ?? null) !== canonicalJson(from))
      throw fail('E_HISTORY_DEFECTIVE', `${key} is changed from a value that is not the one in force`);
    if (to === null) next.delete(key);
    else next.set(key, to);
  }
  return Object.fromEntries([...next].sort(([a], [b]) => compareCodePoints(a, b)));
};
