import type { BranchNode } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Go } from './address.ts';
import { drawBranches, pathToPosition, type Drawing, type DrawnBranch } from './branch-drawing.ts';
import { BranchRow } from './branch-row.tsx';
import { SafeText } from './safe-text.tsx';
import { Shown } from './states.tsx';
import { useBranches } from './use-branches.ts';
import type { Looking } from './use-cycles.ts';
import { VirtualList } from './virtual-list.tsx';
import { grouped, plural } from './words.ts';

const ROW = 42;

/** The branches of a history as a stemma: what is chosen in it, and the way there, marked. */
export const BranchesPanel = ({
  history,
  asked,
  branch,
  looking,
  cycle,
  go,
}: {
  readonly history: string;
  /** What the page's address calls it. */
  readonly asked: string;
  /** The one that is looked at. */
  readonly branch: string;
  readonly looking: Looking | null;
  /** Where in it, in cycles; null: not known yet. */
  readonly cycle: number | null;
  readonly go: Go;
}): ComponentChildren => (
  <Shown query={useBranches(history)} what="branches">
    {({ branches }) => (
      <BranchTree
        history={history}
        asked={asked}
        branches={branches}
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
  readonly branches: readonly BranchNode[];
  readonly branch: string;
  readonly looking: Looking | null;
  readonly cycle: number | null;
  readonly go: Go;
}): ComponentChildren => {
  const drawing = useMemo(() => drawBranches(branches), [branches]);
  const chosen = drawing.rows.findIndex(
    ({ node }) => node.branch === branch || `${history}:${node.branchId}` === branch,
  );
  const x = positionOn(drawing.rows[chosen], looking, cycle);
  const path = x === null ? new Map<number, number>() : pathToPosition(drawing, chosen, x);
  const abandonedCount = branches.filter((one) => one.abandoned_by !== null).length;
  return (
    <>
      <p class="side-facts quiet">
        {plural(branches.length, 'branch', 'branches')}
        {abandonedCount > 0 && `, ${grouped(abandonedCount)} abandoned by a rollback`}
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

/** Where one is on the chosen branch, in cycles; its end where the working state or the newest is looked at. */
const positionOn = (
  row: DrawnBranch | undefined,
  looking: Looking | null,
  cycle: number | null,
): number | null => {
  if (row === undefined || looking === null) return null;
  return looking.reference === undefined || looking.following ? row.to : cycle;
};

/** The place that is looked at, on the row where it lies: that of the chosen branch, or of an ancestor. */
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
      This history has one branch. A <b>fork</b> goes on from any of its positions in another way, a{' '}
      <b>rollback</b> goes back to one and on from there. Nothing is overwritten: what was there stays here.
    </p>
    <pre>
      ./stemma fork <SafeText text={history} /> {at ?? '@t0'} --name what-if --actor me{'\n'}
      ./stemma rollback <SafeText text={history} /> @t-1 --actor me
    </pre>
  </div>
);
