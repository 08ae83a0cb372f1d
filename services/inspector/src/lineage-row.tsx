import type { LineageNode } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from './address.ts';
import { passing, type DrawnLineage, type Drawing, type Point } from './lineage-drawing.ts';
import { SafeText, visible } from './safe-text.tsx';
import { grouped, isoTime } from './words.ts';

/** What a lineage is called: its name, or its number where it has none. */
export const nameOf = ({ name, strand }: Pick<LineageNode, 'name' | 'strand'>): string =>
  name ?? `:${strand}`;

/** A lineage in the drawing: its name above its line, with the lines of others that pass. */
export const LineageRow = ({
  drawing,
  index,
  chosen,
  here,
  path,
  go,
}: {
  readonly drawing: Drawing;
  readonly index: number;
  readonly chosen: boolean;
  /** Where one is, if that lies on this row; in cycles. */
  readonly here: number | null;
  /** How far the way to where one is goes along each row. */
  readonly path: ReadonlyMap<number, number>;
  readonly go: Go;
}): ComponentChildren => {
  const drawn = drawing.rows[index];
  if (drawn === undefined) return null;
  const { node } = drawn;
  const along = (x: number): string => `${drawing.last === 0 ? 0 : (x / drawing.last) * 100}%`;
  return (
    <div
      class={`lineage${chosen ? ' is-chosen' : ''}${node.left_by === null ? '' : ' is-left'}`}
      role="listitem"
      title={titleOf(drawn)}
    >
      <button
        class="lineage-name"
        aria-current={chosen ? 'true' : undefined}
        onClick={() => go({ history: node.lineage, at: null })}
        onKeyDown={walk}
      >
        <b>
          <SafeText text={nameOf(node)} />
        </b>
        <span class="quiet">{beganWords(node)}</span>
        {node.left_by !== null && <span class="badge bad">left</span>}
        {node.description !== '' && (
          <span class="quiet lineage-said">
            <SafeText text={node.description} />
          </span>
        )}
        <span class="lineage-end">{node.cycle === null ? '' : `@c${node.cycle}`}</span>
      </button>
      <div class="strands">
        {passing(drawing, index, path).map(({ x, begins, onPath }) => (
          <span
            key={x}
            class={`join${begins ? ' begins' : ''}${onPath ? ' on-path' : ''}`}
            style={{ left: along(x) }}
          />
        ))}
        {drawn.parent !== index && (
          <span class={`join ends${path.has(index) ? ' on-path' : ''}`} style={{ left: along(drawn.from) }} />
        )}
        <Line from={drawn.from} to={drawn.left ?? drawn.to} along={along} ends={drawn.left === null} />
        {drawn.left !== null && <Line from={drawn.left} to={drawn.to} along={along} ends left />}
        {path.has(index) && (
          <Line from={drawn.from} to={path.get(index) ?? drawn.from} along={along} onPath />
        )}
        {drawn.points.map((point, i) => (
          <PointButton
            key={point.label}
            point={point}
            left={along(point.x)}
            room={((drawn.points[i + 1]?.x ?? drawing.last) - point.x) / (drawing.last || 1)}
            visit={() => go({ history: node.lineage, at: point.label })}
          />
        ))}
        {here !== null && <span class="here" style={{ left: along(here) }} />}
      </div>
    </div>
  );
};

const Line = ({
  from,
  to,
  along,
  ends = false,
  left = false,
  onPath = false,
}: {
  readonly from: number;
  readonly to: number;
  readonly along: (x: number) => string;
  /** The lineage ends here: it is seen even where it has no length. */
  readonly ends?: boolean;
  readonly left?: boolean;
  readonly onPath?: boolean;
}): ComponentChildren => (
  <span
    class={`strand${ends ? ' ends' : ''}${left ? ' is-abandoned' : ''}${onPath ? ' on-path' : ''}`}
    style={{ left: along(from), right: `calc(100% - ${along(to)})` }}
  />
);

/** Points whose flag has no room for its name show it when one points at them. */
const ROOM = 300;
const CHARACTER = 7;

const PointButton = ({
  point: { label, saved, leaving },
  left,
  room,
  visit,
}: {
  readonly point: Point;
  readonly left: string;
  /** Of the width of the drawing, up to the next point. */
  readonly room: number;
  readonly visit: () => void;
}): ComponentChildren => {
  const words = [
    ...saved.map((name) => `saved as ${visible(name)}`),
    ...leaving.map((node) => `${node.how} ${visible(nameOf(node))}`),
  ].join(', ');
  const [name] = saved;
  const fits = name !== undefined && name.length * CHARACTER + 12 < room * ROOM;
  return (
    <button
      class={`point${saved.length > 0 ? ' is-saved' : ''}`}
      style={{ left }}
      title={`${label}: ${words}`}
      aria-label={`${label}, ${words}`}
      onClick={visit}
    >
      {fits && (
        <span class="flag">
          <SafeText text={name} />
        </span>
      )}
    </button>
  );
};

const beganWords = ({ parent, how }: LineageNode): string =>
  parent === null ? '' : `${how} at ${parent.label}`;

const titleOf = ({ node }: DrawnLineage): string =>
  [
    node.lineage,
    visible(node.description),
    `${grouped(node.frames)} frames of its own`,
    node.left_by === null ? '' : `left: a rollback went on as :${node.left_by}`,
    `last changed ${isoTime(node.updated_at)}`,
  ]
    .filter((line) => line !== '')
    .join('\n');

/** Up and down go from lineage to lineage. */
const walk = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { currentTarget } = event;
  if (step === undefined || !(currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  event.stopPropagation();
  const all = [...(currentTarget.closest('.scroll')?.querySelectorAll<HTMLElement>('.lineage-name') ?? [])];
  all[all.indexOf(currentTarget) + step]?.focus();
};
