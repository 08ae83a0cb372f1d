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
