import type { BranchNodeAnswer } from '@stemma/api';
import { useEffect, useState } from 'preact/hooks';
import { addressById } from '../page/chosen.ts';
import { ancestorsOf } from './branch-drawing.ts';

/** Which branches of each history are folded: the drawing is made anew when another branch is looked at. */
const kept = new Map<string, ReadonlySet<number>>();

/** Whether a branch is the one that an address names. */
export const isNamed = (history: string, branch: string, node: BranchNodeAnswer): boolean =>
  node.branch === branch || addressById(history, node.branchId) === branch;

type Folding = {
  readonly folded: ReadonlySet<number>;
  readonly setFolded: (next: ReadonlySet<number>) => void;
  /** Folds a branch, or unfolds it. */
  readonly fold: (branchId: number) => void;
};

/** Keeps which branches are folded; a branch that somebody goes to is unfolded. */
export const useFolded = (
  history: string,
  branches: readonly BranchNodeAnswer[],
  branch: string,
): Folding => {
  const [folded, keepFolded] = useState<ReadonlySet<number>>(() => kept.get(history) ?? new Set());
  const setFolded = (next: ReadonlySet<number>): void => {
    kept.set(history, next);
    keepFolded(next);
  };
  useEffect(() => {
    const known = new Map(branches.map((node) => [node.branchId, node]));
    const gone = branches.find((node) => isNamed(history, branch, node));
    const above = gone === undefined ? [] : ancestorsOf(gone, known);
    if (above.some((one) => folded.has(one)))
      setFolded(new Set([...folded].filter((one) => !above.includes(one))));
  }, [branch]);
  const fold = (branchId: number): void => {
    const next = new Set(folded);
    if (!next.delete(branchId)) next.add(branchId);
    setFolded(next);
  };
  return { folded, setFolded, fold };
};
