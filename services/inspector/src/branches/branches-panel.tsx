import type { BranchNodeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Go } from '../page/address.ts';
import {
  drawBranches,
  foldBranches,
  linesInView,
  pathToPosition,
  type Drawing,
  type DrawnBranch,
  type JoinLine,
} from './branch-drawing.ts';
import { BranchRow, type Scale } from './branch-row.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useBranches } from './use-branches.ts';
import { isNamed, useFolded } from './use-folded.ts';
import { useZoom, type Zooming } from './use-zoom.ts';
import type { Looking } from '../cycles/use-cycles.ts';
import { VirtualList, type Seen } from '../parts/virtual-list.tsx';
import { grouped, plural } from '../parts/words.ts';

const ROW = 42;
/** From the top of a row to its line, in pixels. */
const LINE = 25;

/** The branches of a history as a drawing, with the chosen position and the path to it marked. */
export const BranchesPanel = ({
  history,
  asked,
  branch,
  looking,
  cycle,
  keep = all,
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
  /** Which branches are drawn; all unless said. As long as it is the same, so is the drawing. */
  readonly keep?: (branch: BranchNodeAnswer) => boolean;
  readonly go: Go;
}): ComponentChildren => (
  <Shown query={useBranches(history)} what="branches">
    {({ branches }) => (
      <BranchTree
        history={history}
        asked={asked}
        all={branches}
        keep={keep}
        branch={branch}
        looking={looking}
        cycle={cycle}
        go={go}
      />
    )}
  </Shown>
);

const all = (): boolean => true;

const BranchTree = ({
  history,
  asked,
  all: given,
  keep,
  branch,
  looking,
  cycle,
  go,
}: {
  readonly history: string;
  readonly asked: string;
  readonly all: readonly BranchNodeAnswer[];
  readonly keep: (branch: BranchNodeAnswer) => boolean;
  readonly branch: string;
  readonly looking: Looking | null;
  readonly cycle: number | null;
  readonly go: Go;
}): ComponentChildren => {
  const branches = useMemo(() => given.filter(keep), [given, keep]);
  const { folded, setFolded, fold } = useFolded(history, branches, branch);
  const { shown, below } = useMemo(() => foldBranches(branches, folded), [branches, folded]);
  const drawing = useMemo(() => drawBranches(shown), [shown]);
  const chosen = drawing.rows.findIndex(({ node }) => isNamed(history, branch, node));
  const x = positionOn(drawing.rows[chosen], looking, cycle);
  const path = x === null ? new Map<number, number>() : pathToPosition(drawing, chosen, x);
  const zoom = useZoom(drawing, x);
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') zoom.larger();
    else if (event.key === '-') zoom.smaller();
    else if (event.key === '0') zoom.reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <BranchFacts
        branches={branches}
        last={drawing.last}
        canFold={below.size > 0}
        isFolded={folded.size > 0}
        foldAll={() => setFolded(folded.size > 0 ? new Set() : new Set(below.keys()))}
        zoom={zoom}
      />
      <div class="branch-list" onKeyDown={onKey}>
        <VirtualList
          label="Branches"
          kind="list"
          count={drawing.rows.length}
          rowHeight={ROW}
          selected={chosen}
          wide={zoom.wide}
          row={(i, seen) => (
            <BranchRow
              drawing={drawing}
              index={i}
              chosen={i === chosen}
              currentX={currentPositionOn(drawing, path, chosen, x, i)}
              path={path}
              below={below.get(drawing.rows[i]?.node.branchId ?? -1) ?? 0}
              isFolded={folded.has(drawing.rows[i]?.node.branchId ?? -1)}
              scale={zoom.scaleIn(seen.width)}
              seen={seen}
              fold={fold}
              enlarge={zoom.enlarge}
              go={go}
            />
          )}
          over={(seen) => {
            zoom.see(seen);
            return <Joins drawing={drawing} path={path} seen={seen} scale={zoom.scaleIn(seen.width)} />;
          }}
        />
      </div>
      {given.length === 1 && <ForkHint history={asked} at={looking?.reference} />}
    </>
  );
};

/** How many branches there are, and how they are drawn. */
const BranchFacts = ({
  branches,
  last,
  canFold,
  isFolded,
  foldAll,
  zoom,
}: {
  readonly branches: readonly BranchNodeAnswer[];
  /** The newest cycle. */
  readonly last: number;
  readonly canFold: boolean;
  readonly isFolded: boolean;
  /** Folds all branches, or unfolds them if one is folded. */
  readonly foldAll: () => void;
  readonly zoom: Zooming;
}): ComponentChildren => {
  const abandonedCount = branches.filter((one) => one.abandoned_by !== null).length;
  return (
    <div class="side-facts quiet">
      <span>
        {plural(branches.length, 'branch', 'branches')}
        {abandonedCount > 0 && `, ${grouped(abandonedCount)} abandoned`}
        {`, to cycle ${grouped(Math.floor(last))}`}
      </span>
      <span class="branch-tools">
        {canFold && (
          <button class="link" onClick={foldAll}>
            {isFolded ? 'Unfold all' : 'Fold all'}
          </button>
        )}
        <button
          class="plain"
          aria-label="Smaller"
          title="Smaller (-, on the drawing)"
          disabled={!zoom.isEnlarged}
          onClick={zoom.smaller}
        >
          −
        </button>
        <button class="plain" aria-label="Larger" title="Larger (+, on the drawing)" onClick={zoom.larger}>
          +
        </button>
      </span>
    </div>
  );
};

/** The lines from branches down to those that leave them, as far as they are in view: two shapes, however many there are. */
const Joins = ({
  drawing,
  path,
  seen,
  scale: { names, place },
}: {
  readonly drawing: Drawing;
  readonly path: ReadonlyMap<number, number>;
  readonly seen: Seen;
  readonly scale: Scale;
}): ComponentChildren => {
  const { first, last, left, width } = seen;
  const { others, onPath } = linesInView(drawing, path, place, {
    ...{ first, last },
    ...{ left: left + names, right: left + width },
  });
  const shape = (lines: readonly JoinLine[]): string =>
    lines
      .map(
        ({ x, from, to }) =>
          `M${(x - left).toFixed(1)} ${(from - first) * ROW + LINE}V${(to - first) * ROW + LINE}`,
      )
      .join('');
  return (
    <svg
      class={`branch-joins${others.length > DENSE ? ' dense' : ''}`}
      aria-hidden="true"
      style={{ top: `${first * ROW}px`, left: `${left}px` }}
      width={width}
      height={Math.max(0, last - first) * ROW}
    >
      <path d={shape(others)} />
      <path class="on-path" d={shape(onPath)} />
    </svg>
  );
};

/** So many lines are drawn thinner. */
const DENSE = 10;

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
