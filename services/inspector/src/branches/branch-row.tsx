import type { BranchNodeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from '../page/address.ts';
import {
  pointsInView,
  type Drawing,
  type DrawnBranch,
  type Point,
  type PointGroup,
} from './branch-drawing.ts';
import { branchLabel } from '../page/chosen.ts';
import { SafeText, visible } from '../parts/safe-text.tsx';
import type { Seen } from '../parts/virtual-list.tsx';
import { grouped, isoTime, plural } from '../parts/words.ts';

const nameOf = ({ name, branchId }: Pick<BranchNodeAnswer, 'name' | 'branchId'>): string =>
  branchLabel(branchId, name);

/** Where things stand in a list of branches, in pixels: names on the left, then the drawing, along which cycles stand. */
export type Scale = {
  readonly names: number;
  /** How wide the drawing is. */
  readonly wide: number;
  readonly place: (cycle: number) => number;
};

/** A branch in the drawing: its name, which stays in view, and its line with the points that a click selects. */
export const BranchRow = ({
  drawing,
  index,
  chosen,
  currentX,
  path,
  below,
  isFolded,
  scale: { names, place },
  seen,
  fold,
  enlarge,
  go,
}: {
  readonly drawing: Drawing;
  readonly index: number;
  readonly chosen: boolean;
  /** The position shown, if it is on this row; in cycles. */
  readonly currentX: number | null;
  /** How far the path to the position shown goes along each row. */
  readonly path: ReadonlyMap<number, number>;
  /** How many branches leave it, directly or by way of others; whether they are folded away. */
  readonly below: number;
  readonly isFolded: boolean;
  readonly scale: Scale;
  readonly seen: Seen;
  readonly fold: (branchId: number) => void;
  /** Tells points apart that stand as one. */
  readonly enlarge: (group: PointGroup) => void;
  readonly go: Go;
}): ComponentChildren => {
  const drawn = drawing.rows[index];
  if (drawn === undefined) return null;
  const { node } = drawn;
  const line = lineOf(place);
  const groups = pointsInView(drawn.points, place, { left: seen.left, right: seen.left + seen.width });
  return (
    <div
      class={`branch${chosen ? ' is-chosen' : ''}${node.abandoned_by === null ? '' : ' is-abandoned'}`}
      role="listitem"
    >
      <div class="branch-label" style={{ width: `${names}px` }} title={titleOf(drawn)}>
        <button
          class="branch-name"
          aria-current={chosen ? 'true' : undefined}
          onClick={() => go({ history: node.branch, at: null })}
          onKeyDown={moveFocus}
        >
          <span class="branch-head">
            <b>
              <SafeText text={nameOf(node)} />
            </b>
            <span class="quiet branch-end">{node.cycle === null ? '' : `@c${node.cycle}`}</span>
          </span>
          <span class="quiet branch-said">
            {node.abandoned_by !== null && (
              <>
                <span class="badge bad">abandoned</span>{' '}
              </>
            )}
            {startText(node)}
            {node.description !== '' && (
              <>
                : <SafeText text={node.description} />
              </>
            )}
          </span>
        </button>
        {below > 0 && (
          <button
            class="branch-fold"
            aria-expanded={!isFolded}
            aria-label={`${plural(below, 'branch', 'branches')} below ${visible(nameOf(node))}`}
            onClick={() => fold(node.branchId)}
          >
            {isFolded ? '▸' : '▾'} {grouped(below)}
          </button>
        )}
      </div>
      <span
        class={`branch-line${drawn.abandonedAt === null && drawn.to === drawn.from ? ' ends' : ''}`}
        style={line(drawn.from, drawn.abandonedAt ?? drawn.to)}
      />
      {drawn.abandonedAt !== null && (
        <span
          class={`branch-line is-abandoned${drawn.to === drawn.abandonedAt ? ' ends' : ''}`}
          style={line(drawn.abandonedAt, drawn.to)}
        />
      )}
      {path.has(index) && (
        <span class="branch-line on-path" style={line(drawn.from, path.get(index) ?? drawn.from)} />
      )}
      {groups.map((group, i) => (
        <PointButton
          key={group.points[0].label}
          group={group}
          before={group.x - (groups[i - 1]?.x ?? Math.max(seen.left + names, place(drawn.from)))}
          after={(groups[i + 1]?.x ?? seen.left + seen.width) - group.x}
          enlarge={enlarge}
          visit={(label) => go({ history: node.branch, at: label })}
        />
      ))}
      {currentX !== null && <span class="here" style={{ left: `${place(currentX)}px` }} />}
    </div>
  );
};

const lineOf =
  (place: (cycle: number) => number) =>
  (from: number, to: number): { readonly left: string; readonly width: string } => ({
    left: `${place(from)}px`,
    width: `${place(to) - place(from)}px`,
  });

/** A flag whose name has no room shows it on hover. */
const CHARACTER = 6;
/** Of points that stand as one, so many are named. */
const NAMED = 5;

const wordsOf = ({ label, saved, branches }: Point): string =>
  [
    label,
    ...saved.map((name) => `saved as ${visible(name)}`),
    ...branches.map((node) => `${node.how} ${visible(nameOf(node))}`),
  ].join(', ');

const PointButton = ({
  group: { x, points },
  group,
  before,
  after,
  enlarge,
  visit,
}: {
  readonly group: PointGroup;
  /** Pixels up to what stands beside it. */
  readonly before: number;
  readonly after: number;
  readonly enlarge: (group: PointGroup) => void;
  readonly visit: (label: string) => void;
}): ComponentChildren => {
  const [first] = points;
  const isOne = points.length === 1;
  const saved = points.flatMap((point) => point.saved);
  const [name] = saved;
  const side = isOne && name !== undefined ? sideFor(name, before, after) : undefined;
  const words = isOne
    ? wordsOf(first)
    : [
        `${grouped(points.length)} positions, ${first.label} to ${points.at(-1)?.label ?? ''}: enlarge`,
        ...points.slice(0, NAMED).map(wordsOf),
        ...(points.length > NAMED ? ['…'] : []),
      ].join('\n');
  return (
    <button
      class={`point${saved.length > 0 ? ' is-saved' : ''}${isOne ? '' : ' is-many'}`}
      style={{ left: `${x}px` }}
      title={words}
      aria-label={words}
      onClick={() => (isOne ? visit(first.label) : enlarge(group))}
    >
      {side !== undefined && (
        <span class={`flag ${side}`}>
          <SafeText text={name ?? ''} />
        </span>
      )}
    </button>
  );
};

/** On which side of its pole a flag has room for its name. */
const sideFor = (name: string, before: number, after: number): 'after' | 'before' | undefined => {
  const needed = name.length * CHARACTER + 12;
  if (needed < after) return 'after';
  return needed < before ? 'before' : undefined;
};

const startText = ({ parent, how }: BranchNodeAnswer): string =>
  parent === null ? 'start of the history' : `${how} at ${parent.label}`;

const titleOf = ({ node }: DrawnBranch): string =>
  [
    visible(nameOf(node)),
    node.branch,
    visible(node.description),
    `${grouped(node.frames)} frames on this branch`,
    node.abandoned_by === null ? '' : `abandoned: a rollback continues as ${branchLabel(node.abandoned_by)}`,
    `last changed ${isoTime(node.updatedAt)}`,
  ]
    .filter((line) => line !== '')
    .join('\n');

/** Up and down go from branch to branch. */
const moveFocus = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { currentTarget } = event;
  if (step === undefined || !(currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  event.stopPropagation();
  const all = [...(currentTarget.closest('.scroll')?.querySelectorAll<HTMLElement>('.branch-name') ?? [])];
  all[all.indexOf(currentTarget) + step]?.focus();
};
