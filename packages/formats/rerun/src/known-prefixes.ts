/** What each item of a list becomes, with what the item before it became. */
export type MapList<A, B> = (items: readonly A[], of: (item: A, before: B | undefined) => B) => readonly B[];

/** So many lists are remembered: those of conversations under way. */
const MOST_KEPT = 16;

type Mapped<A, B> = { readonly items: readonly A[]; readonly results: readonly B[] };

/**
 * Maps lists that mostly go on from earlier ones: for items with which an earlier list ended already, `of` is not called.
 * Items are compared as they are, and `of` must return the same for the same.
 */
export const openKnownPrefixes = <A, B>(): MapList<A, B> => {
  let kept: readonly Mapped<A, B>[] = [];
  return (items, of) => {
    let known: Mapped<A, B> | undefined;
    for (const each of kept)
      if (each.items.length > (known?.items.length ?? 0) && isPrefix(each.items, items)) known = each;
    if (known !== undefined && known.items.length === items.length) return known.results;
    const results = known === undefined ? [] : [...known.results];
    for (let i = results.length; i < items.length; i++) results.push(of(items[i] as A, results[i - 1]));
    kept = [{ items, results }, ...kept.filter((each) => each !== known)].slice(0, MOST_KEPT);
    return results;
  };
};

/** The last item is looked at first: lists that part do so there. */
const isPrefix = <A>(some: readonly A[], all: readonly A[]): boolean => {
  if (some.length > all.length) return false;
  for (let i = some.length - 1; i >= 0; i--) if (some[i] !== all[i]) return false;
  return true;
};
