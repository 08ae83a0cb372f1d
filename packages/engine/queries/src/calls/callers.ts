import { listCallLinks } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { BranchSummary } from '../read-types.ts';

/** What is known, or guessed, of where the conversation on a branch comes from. */
export type BranchCalls = Pick<BranchSummary, 'calledBy' | 'mayContinue'>;

/** The calls that led to the conversations on the branches of a history, and those from which they may go on. */
export const callersIn = (rows: RowReader, history: string): ((branchId: number) => BranchCalls) => {
  const links = new Map(listCallLinks(rows, history).map((link) => [link.branchId, link]));
  return (branchId) => {
    const { parent = null, why } = links.get(branchId) ?? {};
    if (parent === null || why === undefined) return { calledBy: null, mayContinue: null };
    return why === 'may continue'
      ? { calledBy: null, mayContinue: parent }
      : { calledBy: { ...parent, why }, mayContinue: null };
  };
};
