import type { BranchNodeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from './address.ts';
import { passingLines, type Drawing, type DrawnBranch, type Point } from './branch-drawing.ts';
import { branchLabel } from './chosen.ts';
import { SafeText, visible } from './safe-text.tsx';
import { grouped, isoTime, plural } from './words.ts';

const nameOf = ({ name, branchId }: Pick<BranchNodeAnswer, 'name' | 'branchId'>): string =>
  branchLabel(branchId, name);

/** So many lines that pass are drawn thinner. */
const DENSE = 10;

/** A branch in the drawing: its name above its line, with the lines of others that pass. */
export const BranchRow = ({
  drawing,
  index,
  chosen,
  currentX,
  path,
  below,
  isFolded,
  fold,
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
  readonly fold: (branchId: number) => void;
  readonly go: Go;
}): ComponentChildren => {
  const drawn = drawing.rows[index];
  if (drawn === undefined) return null;
  const { node } = drawn;
  const lines = passingLines(drawing, index, path);
  const along = (x: number): string => `${drawing.last === 0 ? 0 : (x / drawing.last) * 100}%`;
  return (
    <div
      class={`branch${chosen ? ' is-chosen' : ''}${node.abandoned_by === null ? '' : ' is-abandoned'}`}
      role="listitem"
      title={titleOf(drawn)}
    >
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
          {node.abandoned_by !== null && <span class="badge bad">abandoned</span>}
          <span class="quiet branch-end">{node.cycle === null ? '' : `@c${node.cycle}`}</span>
        </span>
        <span class="quiet branch-said">
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
      <div class={`branch-lines${lines.length > DENSE ? ' dense' : ''}`}>
        {lines.map(({ x, begins, onPath }) => (
          <span
            key={x}
            class={`join${begins ? ' begins' : ''}${onPath ? ' on-path' : ''}`}
            style={{ left: along(x) }}
          />
        ))}
        {drawn.parent !== index && (
          <span class={`join ends${path.has(index) ? ' on-path' : ''}`} style={{ left: along(drawn.from) }} />
        )}
        <BranchLine
          from={drawn.from}
          to={drawn.abandonedAt ?? drawn.to}
          along={along}
          ends={drawn.abandonedAt === null && drawn.to === drawn.from}
        />
        {drawn.abandonedAt !== null && (
          <BranchLine
            from={drawn.abandonedAt}
            to={drawn.to}
            along={along}
            ends={drawn.to === drawn.abandonedAt}
            abandoned
          />
        )}
        {path.has(index) && (
          <BranchLine from={drawn.from} to={path.get(index) ?? drawn.from} along={along} onPath />
        )}
        {drawn.points.map((point, i) => (
          <PointButton
            key={point.label}
            point={point}
            left={along(point.x)}
            before={(point.x - (drawn.points[i - 1]?.x ?? drawn.from)) / (drawing.last || 1)}
            after={((drawn.points[i + 1]?.x ?? drawing.last) - point.x) / (drawing.last || 1)}
            visit={() => go({ history: node.branch, at: point.label })}
          />
        ))}
        {currentX !== null && <span class="here" style={{ left: along(currentX) }} />}
      </div>
    </div>
  );
};

const BranchLine = ({
  from,
  to,
  along,
  ends = false,
  abandoned = false,
  onPath = false,
}: {
  readonly from: number;
  readonly to: number;
  readonly along: (x: number) => string;
  /** The end of the branch, drawn even if the branch has no length. */
  readonly ends?: boolean;
  readonly abandoned?: boolean;
  readonly onPath?: boolean;
}): ComponentChildren => (
  <span
    class={`branch-line${ends ? ' ends' : ''}${abandoned ? ' is-abandoned' : ''}${onPath ? ' on-path' : ''}`}
    style={{ left: along(from), right: `calc(100% - ${along(to)})` }}
  />
);

/** A point whose flag has no room for its name shows it on hover. */
const ROOM = 180;
const CHARACTER = 6;

const PointButton = ({
  point: { label, saved, branches },
  left,
  before,
  after,
  visit,
}: {
  readonly point: Point;
  readonly left: string;
  /** Room up to the neighbouring points, as a part of the drawing's width. */
  readonly before: number;
  readonly after: number;
  readonly visit: () => void;
}): ComponentChildren => {
  const words = [
    ...saved.map((name) => `saved as ${visible(name)}`),
    ...branches.map((node) => `${node.how} ${visible(nameOf(node))}`),
  ].join(', ');
  const [name] = saved;
  const side = name === undefined ? undefined : sideFor(name, before, after);
  return (
    <button
      class={`point${saved.length > 0 ? ' is-saved' : ''}`}
      style={{ left }}
      title={`${label}: ${words}`}
      aria-label={`${label}, ${words}`}
      onClick={visit}
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
  if (needed < after * ROOM) return 'after';
  return needed < before * ROOM ? 'before' : undefined;
};

const startText = ({ parent, how }: BranchNodeAnswer): string =>
  parent === null ? 'start of the history' : `${how} at ${parent.label}`;

const titleOf = ({ node }: DrawnBranch): string =>
  [
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
