import { prose, seeded, whole } from '../text.ts';

/** What is said in a turn, 1 KB each way: the same for every system. */
export const said = (turn: number): { readonly question: string; readonly answer: string } => {
  const random = seeded(10_000 + turn);
  return { question: prose(random, 1_024), answer: prose(random, 1_024) };
};

/** Turns to look back at, the same for every system: all different, drawn evenly from the whole conversation. */
export const lookedAt = (turns: number, count: number): readonly number[] => {
  const random = seeded(99);
  const order = Array.from({ length: turns }, (_, index) => index + 1);
  for (let at = turns - 1; at > 0; at -= 1) {
    const other = whole(random, at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order.slice(0, count);
};
