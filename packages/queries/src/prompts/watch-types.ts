import type { Position } from '@stemma/history-store';

/** What a standing selector matches now. The first message has all of it as `added`. */
export type WatchMessage = {
  /** To go on from here: the next message then tells what has changed since. */
  readonly cursor: string;
  readonly first: boolean;
  readonly position: Position;
  /** In document order. */
  readonly ids: readonly string[];
  readonly added: readonly string[];
  /** In the document order of before. */
  readonly removed: readonly string[];
};
