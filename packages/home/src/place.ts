import type { Author, HistoryEvent } from '@stemma/events';
import { lineageId } from '@stemma/history';

/** A history or a lineage as people name it, found: ids and the strand. */
export type Line = {
  readonly history: string;
  readonly strand: number;
  /** What names the lineage in the API: the history's id for `main`, else `<history>:<strand>`. */
  readonly lineage: string;
};

/** A position that a reference named. `label`: `@c12` at a commit or import, `@s57` elsewhere. */
export type Position = {
  readonly history: string;
  readonly strand: number;
  readonly seq: number;
  /** The number of the last commit at or before it; null before the first. */
  readonly cycle: number | null;
  readonly committed: boolean;
  readonly label: string;
  /** What names its lineage now: the history's id for `main`, else `<history>:<strand>`. */
  readonly lineage: string;
};

/**
 * A position as it is told.
 *
 * @param at.cycle 0 before the first commit. @param at.main the lineage that has the name `main`
 */
export const positionLabelled = ({
  main,
  cycle,
  ...at
}: Pick<Position, 'history' | 'strand' | 'seq' | 'committed'> & {
  readonly cycle: number;
  readonly main: number;
}): Position => ({
  ...at,
  cycle: !at.committed && cycle === 0 ? null : cycle,
  label: at.committed ? `@c${cycle}` : `@s${at.seq}`,
  lineage: at.strand === main ? lineageId(at.history, 0) : `${at.history}:${at.strand}`,
});

/** The recorded fact that made something as it is, and the command that brought it. */
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
  readonly strand: number;
  /** The cycle that was open, or that of the import. */
  readonly cycle: number;
};

/** The answer to a command: a function of its accepted frame, so a repeated command gets the same. */
export type Outcome = {
  readonly history: string;
  readonly strand: number;
  readonly seq: number;
  readonly events: readonly HistoryEvent[];
  /** That of its frame. */
  readonly position: Position;
  /** True when the command had been accepted before and nothing was written now. */
  readonly repeated: boolean;
};
