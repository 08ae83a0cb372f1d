import type { BranchNodeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Go } from './address.ts';
import {
  ancestorsOf,
  drawBranches,
  foldBranches,
  pathToPosition,
  type Drawing,
  type DrawnBranch,
} from './branch-drawing.ts';
import { BranchRow } from './branch-row.tsx';
import { addressById } from './chosen.ts';
import { SafeText } from './safe-text.tsx';
import { Shown } from './states.tsx';
import { useBranches } from './use-branches.ts';
import type { Looking } from './use-cycles.ts';
import { VirtualList } from './virtual-list.tsx';
import { grouped, plural } from './words.ts';

const ROW = 42;

/** The branches of a history as a drawing, with the chosen position and the path to it marked. */
export const BranchesPanel = ({
  history,
  asked,
  branch,
  looking,
  cycle,
  keep = () => true,
  go,
}: {
  readonly history: string;
  /** Its name in the page's address. */
  readonly asked: string;
  /** The branch that is shown. */
  readonly branch: string;
  readonly looking: Looking | null;
  /** The position in it, in cycles; null while unknown. */
  readonly cycle: number | null;
  /** Which branches are drawn; all unless said. */
  readonly keep?: (branch: BranchNodeAnswer) => boolean;
  readonly go: Go;
}): ComponentChildren => (
  <Shown query={useBranches(history)} what="branches">
    {({ branches }) => (
      <BranchTree
        history={history}
        asked={asked}
        branches={branches.filter(keep)}
        isAlone={branches.length === 1}
        branch={branch}
        looking={looking}
        cycle={cycle}
        go={go}
      />
    )}
  </Shown>
);

/** Which branches of each history are folded: the drawing is made anew when another branch is looked at. */
const kept = new Map<string, ReadonlySet<number>>();

const BranchTree = ({
  history,
  asked,
  branches,
  isAlone,
  branch,
  looking,
  cycle,
  go,
}: {
  readonly history: string;
  readonly asked: string;
  /** Those that are drawn. */
  readonly branches: readonly BranchNodeAnswer[];
  /** True if the history has no other one. */
  readonly isAlone: boolean;
  readonly branch: string;
  readonly looking: Looking | null;
  readonly cycle: number | null;
  readonly go: Go;
}): ComponentChildren => {
  const [folded, keepFolded] = useState<ReadonlySet<number>>(() => kept.get(history) ?? new Set());
  const setFolded = (next: ReadonlySet<number>): void => {
    kept.set(history, next);
    keepFolded(next);
  };
  const { shown, below } = useMemo(() => foldBranches(branches, folded), [branches, folded]);
  const drawing = useMemo(() => drawBranches(shown), [shown]);
  // A branch that somebody goes to is drawn.
  useEffect(() => {
    const known = new Map(branches.map((node) => [node.branchId, node]));
    const gone = branches.find(
      (node) => node.branch === branch || addressById(history, node.branchId) === branch,
    );
    const above = gone === undefined ? [] : ancestorsOf(gone, known);
    if (above.some((one) => folded.has(one)))
      setFolded(new Set([...folded].filter((one) => !above.includes(one))));
  }, [branch]);
  const fold = (branchId: number): void => {
    const next = new Set(folded);
    if (!next.delete(branchId)) next.add(branchId);
    setFolded(next);
  };
  const chosen = drawing.rows.findIndex(
    ({ node }) => node.branch === branch || addressById(history, node.branchId) === branch,
  );
  const x = positionOn(drawing.rows[chosen], looking, cycle);
  const path = x === null ? new Map<number, number>() : pathToPosition(drawing, chosen, x);
  const abandonedCount = branches.filter((one) => one.abandoned_by !== null).length;
  return (
    <>
      <p class="side-facts quiet">
        {plural(branches.length, 'branch', 'branches')}
        {abandonedCount > 0 && `, ${grouped(abandonedCount)} abandoned`}
        {`, to cycle ${grouped(Math.floor(drawing.last))}`}
        {below.size > 0 && (
          <>
            {' '}
            <button
              class="link"
              onClick={() => setFolded(folded.size > 0 ? new Set() : new Set(below.keys()))}
            >
              {folded.size > 0 ? 'Unfold all' : 'Fold all'}
            </button>
          </>
        )}
      </p>
      <VirtualList
        label="Branches"
        kind="list"
        count={drawing.rows.length}
        rowHeight={ROW}
        selected={chosen}
        row={(i) => (
          <BranchRow
            drawing={drawing}
            index={i}
            chosen={i === chosen}
            currentX={currentPositionOn(drawing, path, chosen, x, i)}
            path={path}
            below={below.get(drawing.rows[i]?.node.branchId ?? -1) ?? 0}
            isFolded={folded.has(drawing.rows[i]?.node.branchId ?? -1)}
            fold={fold}
            go={go}
          />
        )}
      />
      {isAlone && <ForkHint history={asked} at={looking?.reference} />}
    </>
  );
};

/** The position shown on the chosen branch, in cycles; its end for the working state or the newest snapshot. */
const positionOn = (
  row: DrawnBranch | undefined,
  looking: Looking | null,
  cycle: number | null,
): number | null => {
  if (row === undefined || looking === null) return null;
  return looking.reference === undefined || looking.following ? row.to : cycle;
};

/** The position shown, on its row: that of the chosen branch, or of an ancestor. */
const currentPositionOn = (
  { rows }: Drawing,
  path: ReadonlyMap<number, number>,
  chosen: number,
  x: number | null,
  row: number,
): number | null => {
  if (x === null) return null;
  const own = rows[chosen]?.to === x ? chosen : Math.max(...path.keys());
  return row === own ? x : null;
};

const ForkHint = ({
  history,
  at,
}: {
  readonly history: string;
  readonly at: string | undefined;
}): ComponentChildren => (
  <div class="note hint" role="region" aria-label="How to make a branch" tabIndex={0}>
    <p>
      This history has one branch. A <b>fork</b> starts a new branch at any position. A <b>rollback</b>{' '}
      returns to an earlier position. Nothing is overwritten: the abandoned branch stays here.
    </p>
    <pre>
      ./stemma fork <SafeText text={history} /> <SafeText text={at ?? '@t0'} /> --name what-if --actor me
      {'\n'}
      ./stemma rollback <SafeText text={history} /> @t-1 --actor me
    </pre>
  </div>
);
