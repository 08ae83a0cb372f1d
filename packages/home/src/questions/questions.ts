import type { Projector } from '@stemma/projector';
import type { Position } from '../home.ts';
import { blameThread, type Blame, type ByteRange } from './blame.ts';

/** Questions about what was sent: each a read of rows and contents, nothing is written. */
export type Questions = {
  /** Who made each byte of the provider thread at a position. @throws E_USAGE for a range that is none */
  blame(position: Position, range?: ByteRange): Promise<Blame>;
};

export const questionsOf = (projector: Projector): Questions => ({
  blame: (position, range) => blameThread(projector, position, range),
});
