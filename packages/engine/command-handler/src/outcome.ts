import type { HistoryEvent } from '@stemma/events';
import type { Position } from '@stemma/history-store';

/** The answer to a command: a function of its accepted frame, so a repeated command gets the same. */
export type Outcome = {
  readonly history: string;
  readonly branchId: number;
  readonly seq: number;
  readonly events: readonly HistoryEvent[];
  /** The position after the frame. */
  readonly position: Position;
  /** True when the command had been accepted before and nothing was written now. */
  readonly repeated: boolean;
};
