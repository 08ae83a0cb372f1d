import { branchAddress } from '@stemma/history';

/** A branch that a person named: its ids and its address. */
export type BranchRef = {
  readonly history: string;
  readonly branchId: number;
  /** The branch's address in the API (see `branchAddress`). */
  readonly branch: string;
};

/** A position that a reference named. `label`: `@c12` at a commit or import, `@s57` elsewhere. */
export type Position = {
  readonly history: string;
  readonly branchId: number;
  readonly seq: number;
  /** The cycle of the last commit at or before it; null before the first. */
  readonly cycle: number | null;
  readonly committed: boolean;
  readonly label: string;
  /** The address that its branch has now. */
  readonly branch: string;
};

/**
 * The position with its label and the address of its branch.
 *
 * @param at.cycle 0 before the first commit
 * @param at.main the branch that has the name `main`
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
  branch: branchAddress(position.history, position.branchId, main),
});
