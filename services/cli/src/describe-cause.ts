import { pastOf } from '@stemma/api';
import type { Cause } from '@stemma/history';
import type { Origin } from '@stemma/queries';
import { oneLine } from './output.ts';

/** Who wrote a frame, in a word or two. */
export const authorText = ({ author }: Pick<Origin, 'author'>): string =>
  'recorder' in author ? oneLine(author.recorder, 24) : `${oneLine(author.actor, 24)} (actor)`;

/** The location of an event: frame and index. */
export const eventText = ({ seq, index }: Pick<Origin, 'seq' | 'index'>): string => `${seq}.${index}`;

/** A cause in a few words. */
export const describeCause = (cause: Cause): string => {
  switch (cause.kind) {
    case 'mutation':
      return `${pastOf(cause.op)}${cause.by === null ? '' : ` with ${oneLine(cause.by, 24)}`}`;
    case 'import':
      return 'imported';
    case 'expiry':
      return 'expired';
    case 'cascade':
      return `removed with ${oneLine(cause.by, 24)}`;
    case 'pruning':
      return `pruned (${cause.rule}, rank ${cause.rank})`;
    case 'ageing':
      return 'aged';
    case 'sealing':
      return `sealed into ${oneLine(cause.turn, 24)}`;
    case 'hold':
      return `held by ${oneLine(cause.by, 24)}`;
  }
};
