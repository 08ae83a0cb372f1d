import { prose, seeded } from '../text.ts';

/** What is said in a turn, 1 KB each way: the same for every system. */
export const said = (turn: number): { readonly question: string; readonly answer: string } => {
  const random = seeded(10_000 + turn);
  return { question: prose(random, 1_024), answer: prose(random, 1_024) };
};

/** Turns to look back at, the same for every system: evenly drawn, each from the whole conversation. */
export const lookedAt = (turns: number, count: number): readonly number[] => {
  const random = seeded(99);
  return Array.from({ length: count }, () => 1 + Math.floor(random() * turns));
};
