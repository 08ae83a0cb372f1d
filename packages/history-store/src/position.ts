import { branchAddress } from '@stemma/history';

/** A history or a branch as people name it, found: ids and the branch. */
export type BranchRef = {
  readonly history: string;
  readonly branchId: number;
  /** What names the branch in the API: the history's id for `main`, else `<history>:<branch id>`. */
  readonly branch: string;
};

/** A position that a reference named. `label`: `@c12` at a commit or import, `@s57` elsewhere. */
export type Position = {
  readonly history: string;
  readonly branchId: number;
  readonly seq: number;
  /** The number of the last commit at or before it; null before the first. */
  readonly cycle: number | null;
  readonly committed: boolean;
  readonly label: string;
  /** What names its branch now: the history's id for `main`, else `<history>:<branch id>`. */
  readonly branch: string;
};

/**
 * A position as it is told.
 *
 * @param at.cycle 0 before the first commit. @param at.main the branch that has the name `main`
 */
export const labelPosition = ({
  main,
  cycle,
  ...position
}: Pick<Position, 'history' | 'branchId' | 'seq' | 'committed'> & {
  readonly cycle: number;
  readonly main: number;
}): Position => ({
  ...position,
  cycle: !position.committed && cycle === 0 ? null : cycle,
  label: position.committed ? `@c${cycle}` : `@s${position.seq}`,
  branch:
    position.branchId === main
      ? branchAddress(position.history, 0)
      : `${position.history}:${position.branchId}`,
});
