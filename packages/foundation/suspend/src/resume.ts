import { fail } from '@stemma/errors';
import { isMissing, type Missing, type MissingKind } from './missing.ts';

/** How to fetch one kind; made by {@link fetching}. */
export type Fetcher = {
  readonly kind: MissingKind<unknown>;
  fetch(needs: readonly unknown[]): Promise<void> | void;
};

/** A fetcher. What it fetched must stay in memory until the requesting function returns. */
export const fetching = <Need>(
  kind: MissingKind<Need>,
  fetch: (needs: readonly Need[]) => Promise<void> | void,
): Fetcher => ({ kind, fetch });

/**
 * The result of `fn` once everything that it reads is in memory: when it throws {@link Missing}, the needs are fetched
 * and it is called again, so it must change nothing before it throws. Kinds without a fetcher are rethrown, like
 * errors.
 *
 * A need is fetched once, so there are at most as many rounds as distinct needs.
 *
 * @throws E_INTERNAL when every need was fetched before: another round would give the same.
 */
export const resume = async <T>(fn: () => T | Promise<T>, ...fetchers: readonly Fetcher[]): Promise<T> => {
  let fetched: Fetched | undefined;
  for (;;) {
    try {
      return await fn();
    } catch (error) {
      const fetcher = isMissing(error) ? fetchers.find(({ kind }) => kind === error.kind) : undefined;
      if (fetcher === undefined) throw error;
      fetched ??= new Map();
      await fetcher.fetch(notFetched(error as Missing, fetched));
    }
  }
};

/** By kind, the keys of the needs that were fetched. */
type Fetched = Map<MissingKind<unknown>, Set<unknown>>;

/** The needs that were not fetched before; they are now marked as fetched. */
const notFetched = ({ kind, needs }: Missing, fetched: Fetched): readonly unknown[] => {
  const keys = fetched.get(kind) ?? new Set();
  fetched.set(kind, keys);
  const fresh: unknown[] = [];
  for (const need of needs) {
    const key = kind.keyOf(need);
    if (keys.has(key)) continue;
    keys.add(key);
    fresh.push(need);
  }
  if (fresh.length === 0) throw fail('E_INTERNAL', `${kind.name} were fetched and are still missing`);
  return fresh;
};
