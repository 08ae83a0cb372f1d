import type { ReadMessage } from '../read-call.ts';

/** Where two lists of messages part. */
export type MessagesDiffer = {
  /** `one`: a message that says something else, or stands in one list only. */
  readonly kind: 'one' | 'history shortened' | 'order';
  /** Its number in the recorded list; of one that only the other has, the number there. */
  readonly message: number;
  readonly a: ReadMessage | null;
  readonly b: ReadMessage | null;
  /** Messages that a shortened history no longer has. */
  readonly gone: number;
};

/** Compares two messages that stand at one place of the recorded list. */
type IsSame = (a: ReadMessage, b: ReadMessage, number: number) => boolean;

/** The first message that differs; null: none does. Lists are aligned, so that one more message is one difference. */
export const firstDifference = (
  recorded: readonly ReadMessage[],
  now: readonly ReadMessage[],
  isSame: IsSame,
): MessagesDiffer | null => {
  let start = 0;
  while (start < recorded.length && start < now.length) {
    if (!isSame(recorded[start] as ReadMessage, now[start] as ReadMessage, start)) break;
    start++;
  }
  if (start === recorded.length && start === now.length) return null;
  let end = 0;
  const most = Math.min(recorded.length, now.length) - start;
  while (end < most) {
    const at = recorded.length - end - 1;
    if (!isSame(recorded[at] as ReadMessage, now[now.length - end - 1] as ReadMessage, at)) break;
    end++;
  }
  const [gone, come] = [recorded.slice(start, recorded.length - end), now.slice(start, now.length - end)];
  const [a, b] = [gone[0] ?? null, come[0] ?? null];
  if (isOtherOrder(gone, come)) return { kind: 'order', message: start, a, b, gone: 0 };
  if (isShortened(gone, come)) return { kind: 'history shortened', message: start, a, b, gone: gone.length };
  return { kind: 'one', message: start, ...firstPair(gone, come), gone: 0 };
};

/** The same messages, in another order. */
const isOtherOrder = (gone: readonly ReadMessage[], come: readonly ReadMessage[]): boolean => {
  if (gone.length < 2 || gone.length !== come.length) return false;
  const counts = new Map<number, number>();
  for (const { masked } of gone) counts.set(masked, (counts.get(masked) ?? 0) + 1);
  for (const { masked } of come) counts.set(masked, (counts.get(masked) ?? 0) - 1);
  return (
    [...counts.values()].every((count) => count === 0) &&
    gone.some(({ masked }, i) => masked !== come[i]?.masked)
  );
};

/** An exchange or more is gone, and at most a message that sums it up came in its place. */
const isShortened = (gone: readonly ReadMessage[], come: readonly ReadMessage[]): boolean =>
  gone.length > 1 && gone.some(({ role }) => role === 'assistant') && come.length <= 1;

/** What stands first: with a message of the other list, unless that one stands there further behind, or has another role. */
const firstPair = (
  gone: readonly ReadMessage[],
  come: readonly ReadMessage[],
): { readonly a: ReadMessage | null; readonly b: ReadMessage | null } => {
  const [a, b] = [gone[0] ?? null, come[0] ?? null];
  if (a === null || b === null) return { a, b };
  const isAdded = come.some(({ masked }) => masked === a.masked);
  const isRemoved = gone.some(({ masked }) => masked === b.masked);
  if (isAdded !== isRemoved) return isAdded ? { a: null, b } : { a, b: null };
  if (a.role === b.role) return { a, b };
  return gone.length > come.length ? { a, b: null } : { a: null, b };
};
