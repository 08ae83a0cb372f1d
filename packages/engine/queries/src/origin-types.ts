import type { Author, HistoryEvent } from '@stemma/events';

/** The recorded event that made something as it is, and the command that wrote it. */
export type Origin = {
  readonly seq: number;
  /** The event is the `index`-th of frame `seq`. */
  readonly index: number;
  readonly event: HistoryEvent['type'];
  readonly command: string;
  /** A recorder's own record, or an actor's intervention. */
  readonly author: Author;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly branchId: number;
  /** The cycle that was open, or that of the import. */
  readonly cycle: number;
};
