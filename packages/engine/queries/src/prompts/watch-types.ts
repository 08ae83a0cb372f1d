import type { Position } from '@stemma/history-store';

/** What a watched selector matches now. The first message has all ids as `added`. */
export type WatchMessage = {
  /** A watch that continues after this cursor gets the changes since this message. */
  readonly cursor: string;
  readonly first: boolean;
  readonly position: Position;
  /** In document order. */
  readonly ids: readonly string[];
  readonly added: readonly string[];
  /** In the document order of the message before. */
  readonly removed: readonly string[];
};
