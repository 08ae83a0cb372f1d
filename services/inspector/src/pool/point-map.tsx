import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { PointDrawer } from '../parts/draw-points.ts';
import { lassoOf, type MapCorner } from './pool-filter.ts';
import { useMapView, type ColouredPoint, type MapInView } from './use-map-view.ts';
import { MANY, usePointDrawer } from './use-point-drawer.ts';

const ZOOM = 1.3;
/** A press that moves less than so many pixels is a click. */
const CLICK = 4;
/** A click chooses the nearest point so many pixels around it. */
const REACH = 10;

type Props = {
  readonly points: readonly ColouredPoint[];
  readonly chosen: string | null;
  readonly lasso: readonly MapCorner[] | null;
  readonly isLassoing: boolean;
  readonly choose: (id: string | null) => void;
  readonly circle: (corners: readonly MapCorner[] | null) => void;
  readonly label: string;
};

/** Points on a map that is moved, enlarged and circled, by pointer and by keys; a list beside it has the same points. */
export const PointMap = (props: Props): ComponentChildren => {
  const { points, chosen, lasso, isLassoing, label } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = useMapView(box, points);
  const kind = usePointDrawer(canvas, points, map);
  const { drawn, ...onPointer } = usePointer(props, map);
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = KEYS[event.key];
    if (step !== undefined) map.move(step[0] * 60, step[1] * 60);
    else if (event.key === '+' || event.key === '=') map.zoom(ZOOM);
    else if (event.key === '-') map.zoom(1 / ZOOM);
    else if (event.key === '0') map.showAll();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    map.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, map.onMap(event));
  };
  const here = points.find(({ id }) => id === chosen);
  const marked = here === undefined ? null : map.onScreen([here.x, here.y]);
  const corners = drawn ?? lasso;
  return (
    <div class="point-map">
      <div
        ref={box}
        class={`point-map-box${isLassoing ? ' is-lassoing' : ''}`}
        tabIndex={0}
        role="application"
        aria-roledescription="map"
        aria-label={label}
        onKeyDown={onKey}
        onWheel={onWheel}
        {...onPointer}
      >
        <canvas ref={canvas} aria-hidden="true" data-drawn-by={kind ?? ''} />
        <svg class="point-map-over" aria-hidden="true">
          {corners !== null && (
            <polygon points={corners.map((corner) => map.onScreen(corner).join(',')).join(' ')} />
          )}
          {marked !== null && <circle cx={marked[0]} cy={marked[1]} r="9" />}
        </svg>
      </div>
      <MapButtons map={map} />
      <DrawerNote kind={kind} count={points.length} />
    </div>
  );
};

/** Moves the map, draws a circle on it or chooses a point. `drawn`: the circle as far as it is drawn. */
const usePointer = ({ points, isLassoing, choose, circle }: Props, { latest, move, onMap }: MapInView) => {
  const drag = useRef<{ x: number; y: number; far: boolean; corners: MapCorner[] | null } | null>(null);
  const [drawn, setDrawn] = useState<readonly MapCorner[] | null>(null);
  const nearest = (at: MapCorner): string | null => {
    let [found, least]: [string | null, number] = [null, REACH / latest.current.scale];
    for (const { id, x, y, isShown } of points) {
      const far = Math.hypot(x - at[0], y - at[1]);
      if (isShown && far <= least) [found, least] = [id, far];
    }
    return found;
  };
  return {
    drawn,
    onPointerDown: (event: PointerEvent): void => {
      if (event.button !== 0) return;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      const corners = isLassoing || event.shiftKey ? [onMap(event)] : null;
      drag.current = { x: event.clientX, y: event.clientY, far: false, corners };
    },
    onPointerMove: (event: PointerEvent): void => {
      const now = drag.current;
      if (now === null) return;
      const [across, down] = [event.clientX - now.x, event.clientY - now.y];
      if (!now.far && Math.hypot(across, down) < CLICK) return;
      now.far = true;
      if (now.corners === null) {
        move(-across, down);
        [now.x, now.y] = [event.clientX, event.clientY];
      } else {
        now.corners.push(onMap(event));
        setDrawn([...now.corners]);
      }
    },
    onPointerUp: (event: PointerEvent): void => {
      const now = drag.current;
      drag.current = null;
      setDrawn(null);
      if (now === null) return;
      if (!now.far) choose(nearest(onMap(event)));
      else if (now.corners !== null) circle(lassoOf(now.corners));
    },
    onPointerCancel: (): void => {
      drag.current = null;
      setDrawn(null);
    },
  };
};

/** What the keys of the map do, as buttons. */
const MapButtons = ({ map }: { readonly map: MapInView }): ComponentChildren => (
  <div class="point-map-keys" role="group" aria-label="Move the map">
    <button class="plain" onClick={() => map.zoom(ZOOM)} title="Larger (+, on the map)" aria-label="Larger">
      +
    </button>
    <button
      class="plain"
      onClick={() => map.zoom(1 / ZOOM)}
      title="Smaller (-, on the map)"
      aria-label="Smaller"
    >
      −
    </button>
    <button class="plain" onClick={() => map.showAll()} title="All of it (0, on the map)">
      All
    </button>
  </div>
);

/** Why the map may follow slowly. */
const DrawerNote = ({
  kind,
  count,
}: {
  readonly kind: PointDrawer['kind'] | null;
  readonly count: number;
}): ComponentChildren => (
  <>
    {kind === 'software' && count > MANY && (
      <p class="quiet point-map-note">
        This browser draws without a graphics card: the processor draws {count.toLocaleString('en')} points at
        each step, and the map may follow slowly.
      </p>
    )}
    {kind === 'canvas' && (
      <p class="quiet point-map-note">This browser has no WebGL: the map is drawn without it, more slowly.</p>
    )}
  </>
);

const KEYS: Readonly<Record<string, MapCorner>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};
