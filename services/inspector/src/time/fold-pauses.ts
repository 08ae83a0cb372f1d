/** A call as the time line needs it: when it began, and how long it took, in milliseconds. */
export type TimedCall = { readonly at: number; readonly took: number };

/** Where calls begin on a time line without long pauses, in milliseconds from its begin, and how long the line is. */
export type FoldedTime = {
  readonly starts: readonly number[];
  readonly length: number;
  readonly folded: number;
};

/**
 * Between calls an agent may wait for hours: what is longer than half of the longest call is shortened to that, so that the
 * calls can be seen.
 *
 * @param calls in any order; `starts` are in the same one
 */
export const foldPauses = (calls: readonly TimedCall[]): FoldedTime => {
  const most = Math.max(1, calls.reduce((long, { took }) => Math.max(long, took), 0) / 2);
  const order = calls.map((_, i) => i).toSorted((a, b) => (calls[a]?.at ?? 0) - (calls[b]?.at ?? 0));
  const starts = calls.map(() => 0);
  let [removed, folded, until, length] = [0, 0, calls[order[0] ?? 0]?.at ?? 0, 0];
  const begin = until;
  for (const i of order) {
    const { at, took } = calls[i] ?? { at: until, took: 0 };
    if (at - until > most) {
      removed += at - until - most;
      folded += 1;
    }
    until = Math.max(until, at + took);
    starts[i] = at - begin - removed;
    length = Math.max(length, starts[i] + took);
  }
  return { starts, length: Math.max(1, length), folded };
};
