import type { WhyAnswer } from '@stemma/api';
import { plural } from '../parts/words.ts';

/** The sentence in bold, and the one that explains it. */
export type Because = { readonly what: string; readonly how: string };

/** What removed a message before a call. @param mostBlocks the policy's `max_blocks`, where one is in force */
export const removedBecause = (why: WhyAnswer, mostBlocks: number | null): Because | null => {
  const { removed, snapshots } = why;
  if (removed === null) return null;
  const { cause, cycle, notes } = removed;
  const by = 'actor' in removed.author ? removed.author.actor : `the recorder ${removed.author.recorder}`;
  const before = `before @c${cycle}`;
  switch (cause.kind) {
    case 'pruning':
      return {
        what: `Rule ${cause.rule} removed it ${before}.`,
        how: `At most ${mostBlocks === null ? 'so many' : plural(mostBlocks, 'message')} are shown, lowest priority and oldest first; this was number ${cause.rank + 1} in line.`,
      };
    case 'expiry':
      return {
        what: `Its time ran out ${before}.`,
        how:
          snapshots === null
            ? 'It was put in for a number of calls.'
            : `It was put in to stay for ${plural(snapshots.last - snapshots.first + 1, 'call')}.`,
      };
    case 'cascade':
      return { what: `It went with ${cause.by} ${before}.`, how: 'That held it, and was removed.' };
    default:
      return {
        what: `${by} removed it ${before}.`,
        how:
          notes === null || notes === ''
            ? `Command ${removed.command}.`
            : `“${notes}” (command ${removed.command})`,
      };
  }
};
