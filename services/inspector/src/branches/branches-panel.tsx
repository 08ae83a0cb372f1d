import type { BranchNodeAnswer } from '@stemma/api';
import { scaleLinear } from 'd3-scale';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Go } from '../page/address.ts';
import {
  ancestorsOf,
  APART,
  drawBranches,
  foldBranches,
  linesInView,
  pathToPosition,
  type Drawing,
  type DrawnBranch,
  type JoinLine,
  type PointGroup,
} from './branch-drawing.ts';
import { BranchRow, type Scale } from './branch-row.tsx';
import { addressById } from '../page/chosen.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useBranches } from './use-branches.ts';
import type { Looking } from '../cycles/use-cycles.ts';
import { VirtualList, type Seen } from '../parts/virtual-list.tsx';
import { grouped, plural } from '../parts/words.ts';

const ROW = 42;
/** From the top of a row to its line, in pixels. */
const LINE = 25;
/** Behind the newest cycle, for what stands there. */
const MARGIN = 22;
const MOST_NAMES = 380;
const ZOOM = 2;
/** The drawing is enlarged until so many pixels are a cycle; a position between two is in their middle. */
const MOST_CYCLE = 2 * APART;

/** What is enlarged, and what stands in the middle then; null: what was. */
type Zoom = { readonly factor: number; readonly middle: number | null };

const scaleOf = (width: number, { last }: Drawing, factor: number): Scale => {
  const names = Math.round(Math.min(MOST_NAMES, 0.42 * width));
  const wide = Math.max(1, width - names - MARGIN) * factor;
  return { names, wide, place: scaleLinear([0, Math.max(1, last)], [names, names + wide]) };
};

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

/** Which branches of each history are folded: the drawing is made anew when another branch is looked at. */
const kept = new Map<string, ReadonlySet<number>>();

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
  const [folded, keepFolded] = useState<ReadonlySet<number>>(() => kept.get(history) ?? new Set());
  const setFolded = (next: ReadonlySet<number>): void => {
    kept.set(history, next);
    keepFolded(next);
  };
  const branches = useMemo(() => given.filter(keep), [given, keep]);
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
  const [{ factor, middle }, setZoom] = useState<Zoom>({ factor: 1, middle: null });
  const latest = useRef<Seen | null>(null);
  /** Enlarges around a cycle: unless it is given, around the position shown if it is in view, else what stands in the middle. */
  const zoomTo = (wanted: number, around?: number): void => {
    const { left, width } = latest.current ?? { left: 0, width: 0 };
    const { names, wide, place } = scaleOf(width, drawing, factor);
    const most = Math.max(1, (MOST_CYCLE * drawing.last * factor) / wide);
    const isInView = x !== null && place(x) >= left + names && place(x) <= left + width;
    const inMiddle = ((left + (width - names) / 2) / wide) * drawing.last;
    setZoom({
      factor: Math.max(1, Math.min(most, wanted)),
      middle: around ?? (isInView ? x : inMiddle),
    });
  };
  const enlarge = ({ points }: PointGroup): void => {
    const [first] = points;
    const end = points.at(-1)?.x ?? first.x;
    // A third of what is in view: what stands around them stays in view.
    zoomTo(Math.max(factor * ZOOM, drawing.last / (3 * (end - first.x))), (first.x + end) / 2);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') zoomTo(factor * ZOOM);
    else if (event.key === '-') zoomTo(factor / ZOOM);
    else if (event.key === '0') zoomTo(1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div class="side-facts quiet">
        <span>
          {plural(branches.length, 'branch', 'branches')}
          {abandonedCount > 0 && `, ${grouped(abandonedCount)} abandoned`}
          {`, to cycle ${grouped(Math.floor(drawing.last))}`}
        </span>
        <span class="branch-tools">
          {below.size > 0 && (
            <button
              class="link"
              onClick={() => setFolded(folded.size > 0 ? new Set() : new Set(below.keys()))}
            >
              {folded.size > 0 ? 'Unfold all' : 'Fold all'}
            </button>
          )}
          <button
            class="plain"
            aria-label="Smaller"
            title="Smaller (-, on the drawing)"
            disabled={factor === 1}
            onClick={() => zoomTo(factor / ZOOM)}
          >
            −
          </button>
          <button
            class="plain"
            aria-label="Larger"
            title="Larger (+, on the drawing)"
            onClick={() => zoomTo(factor * ZOOM)}
          >
            +
          </button>
        </span>
      </div>
      <div class="branch-list" onKeyDown={onKey}>
        <VirtualList
          label="Branches"
          kind="list"
          count={drawing.rows.length}
          rowHeight={ROW}
          selected={chosen}
          wide={{
            of: (width) => {
              const { names, wide } = scaleOf(width, drawing, factor);
              return names + wide + MARGIN;
            },
            middle: (width) => {
              const { names, place } = scaleOf(width, drawing, factor);
              return middle === null ? null : place(middle) - names / 2;
            },
          }}
          row={(i, seen) => (
            <BranchRow
              drawing={drawing}
              index={i}
              chosen={i === chosen}
              currentX={currentPositionOn(drawing, path, chosen, x, i)}
              path={path}
              below={below.get(drawing.rows[i]?.node.branchId ?? -1) ?? 0}
              isFolded={folded.has(drawing.rows[i]?.node.branchId ?? -1)}
              scale={scaleOf(seen.width, drawing, factor)}
              seen={seen}
              fold={fold}
              enlarge={enlarge}
              go={go}
            />
          )}
          over={(seen) => {
            latest.current = seen;
            return (
              <Joins drawing={drawing} path={path} seen={seen} scale={scaleOf(seen.width, drawing, factor)} />
            );
          }}
        />
      </div>
      {given.length === 1 && <ForkHint history={asked} at={looking?.reference} />}
    </>
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
