import type { BranchNodeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Go } from './address.ts';
import { drawBranches, pathToPosition, type Drawing, type DrawnBranch } from './branch-drawing.ts';
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
        branch={branch}
        looking={looking}
        cycle={cycle}
        go={go}
      />
    )}
  </Shown>
);

const BranchTree = ({
  history,
  asked,
  branches,
  branch,
  looking,
  cycle,
  go,
}: {
  readonly history: string;
  readonly asked: string;
  readonly branches: readonly BranchNodeAnswer[];
  readonly branch: string;
  readonly looking: Looking | null;
  readonly cycle: number | null;
  readonly go: Go;
}): ComponentChildren => {
  const drawing = useMemo(() => drawBranches(branches), [branches]);
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
            go={go}
          />
        )}
      />
      {branches.length === 1 && <ForkHint history={asked} at={looking?.reference} />}
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
  <div class="note hint">
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
