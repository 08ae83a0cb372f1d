import { diffArrays } from 'diff';

/** A message of a thread: what it is compared by, its blocks, and the newest frame that one of them is from. */
export type ThreadMessage = {
  readonly key: string;
  readonly ids: readonly string[];
  readonly role: string | null;
  readonly seq: number;
};

export type MessagePair = { readonly a: ThreadMessage | null; readonly b: ThreadMessage | null };

/** More differences than this are no alignment any more: all of one thread, and all of the other. */
const MOST_EDITS = 5_000;

/** Pairs of the same message, and between them those of one side only; what stands in the place of another is a pair with it. */
export const alignMessages = (a: readonly ThreadMessage[], b: readonly ThreadMessage[]): MessagePair[] => {
  const hunks = diffArrays([...a], [...b], {
    comparator: (x, y) => x.key === y.key,
    maxEditLength: MOST_EDITS,
  }) ?? [
    { value: [...a], removed: true, added: false },
    { value: [...b], removed: false, added: true },
  ];
  const pairs: MessagePair[] = [];
  const at = { a: 0, b: 0 };
  let gone: ThreadMessage[] = [];
  let come: ThreadMessage[] = [];
  const flush = (): void => {
    for (const pair of pairsBetween(gone, come)) pairs.push(pair);
    [gone, come] = [[], []];
  };
  for (const { value, removed, added } of hunks) {
    if (removed) for (const message of a.slice(at.a, (at.a += value.length))) gone.push(message);
    else if (added) for (const message of b.slice(at.b, (at.b += value.length))) come.push(message);
    else {
      flush();
      for (let i = 0; i < value.length; i++)
        pairs.push({ a: a[at.a++] as ThreadMessage, b: b[at.b++] as ThreadMessage });
    }
  }
  flush();
  return pairs;
};

/**
 * Between two messages that are on both sides: messages of one role and id are one message that differs; so are those that stand
 * at the same place where both sides have as many, of the same roles.
 */
export const pairsBetween = (
  gone: readonly ThreadMessage[],
  come: readonly ThreadMessage[],
): MessagePair[] => {
  if (gone.length === come.length && gone.every(({ role }, i) => role === come[i]?.role))
    return gone.map((a, i) => ({ a, b: come[i] as ThreadMessage }));
  const pairs: MessagePair[] = [];
  const places = openPlaces(come);
  let next = 0;
  for (const a of gone) {
    const found = places.firstFrom(next, a);
    if (found === undefined) {
      pairs.push({ a, b: null });
      continue;
    }
    for (; next < found; next++) pairs.push({ a: null, b: come[next] as ThreadMessage });
    pairs.push({ a, b: come[next++] as ThreadMessage });
  }
  for (const b of come.slice(next)) pairs.push({ a: null, b });
  return pairs;
};

/** Finds messages by role and id, each time from a place on that is not before the last one. */
const openPlaces = (messages: readonly ThreadMessage[]) => {
  const keyOf = ({ role, ids }: ThreadMessage): string => JSON.stringify([role, ids[0]]);
  const byKey = new Map<string, { readonly places: number[]; next: number }>();
  for (const [place, message] of messages.entries()) {
    const known = byKey.get(keyOf(message));
    if (known === undefined) byKey.set(keyOf(message), { places: [place], next: 0 });
    else known.places.push(place);
  }
  return {
    firstFrom: (from: number, message: ThreadMessage): number | undefined => {
      const found = byKey.get(keyOf(message));
      if (found === undefined) return undefined;
      while ((found.places[found.next] ?? Infinity) < from) found.next++;
      return found.places[found.next];
    },
  };
};
