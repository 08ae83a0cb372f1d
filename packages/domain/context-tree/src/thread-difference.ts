import type { ThreadSpan } from './partial-thread.ts';

/** What differs between two threads, without the messages that both begin and end with: of these there are the numbers. */
export type ThreadDifference = {
  readonly sameFirst: number;
  /** Messages as canonical JSON. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly sameLast: number;
};

/**
 * What differs between two states of one thread. A message has its id in it, so none of a turn that is not loaded is equal to one
 * that stands elsewhere. Undefined if such a turn is among what differs.
 */
export const threadDifference = (
  before: readonly ThreadSpan[],
  after: readonly ThreadSpan[],
): ThreadDifference | undefined => {
  const { first, last } = sameEnds(before, after, areSame);
  const messages = (spans: readonly ThreadSpan[]): number =>
    spans.reduce((sum, span) => sum + span.messages, 0);
  const textsOf = (spans: readonly ThreadSpan[]): readonly string[] | undefined => {
    const texts = spans.slice(first, spans.length - last).map(({ text }) => text);
    return texts.includes(null) ? undefined : (texts as readonly string[]);
  };
  const [old, fresh] = [textsOf(before), textsOf(after)];
  return (
    old &&
    fresh && {
      sameFirst: messages(before.slice(0, first)),
      before: old,
      after: fresh,
      sameLast: messages(before.slice(before.length - last)),
    }
  );
};

/** What differs between two threads whose messages are all there, as canonical JSON. */
export const messageDifference = (before: readonly string[], after: readonly string[]): ThreadDifference => {
  const { first, last } = sameEnds(before, after, (a, b) => a === b);
  return {
    sameFirst: first,
    before: before.slice(first, before.length - last),
    after: after.slice(first, after.length - last),
    sameLast: last,
  };
};

/** With how many items both lists begin, and end with as many of the others. */
const sameEnds = <T>(
  before: readonly T[],
  after: readonly T[],
  same: (a: T | undefined, b: T | undefined) => boolean,
): { readonly first: number; readonly last: number } => {
  const most = Math.min(before.length, after.length);
  let first = 0;
  while (first < most && same(before[first], after[first])) first++;
  let last = 0;
  while (last < most - first && same(before.at(-1 - last), after.at(-1 - last))) last++;
  return { first, last };
};

const areSame = (a: ThreadSpan | undefined, b: ThreadSpan | undefined): boolean =>
  a?.text === b?.text && a?.turn === b?.turn;

/** The bytes of the full thread after a difference, from those before it. */
export const bytesAfter = (
  { sameFirst, before, after, sameLast }: ThreadDifference,
  bytesBefore: number,
): number => {
  const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
  // Between two messages is a comma.
  const commas = (texts: readonly string[]): number => Math.max(0, sameFirst + texts.length + sameLast - 1);
  return bytesBefore - bytesOf(before) - commas(before) + bytesOf(after) + commas(after);
};
