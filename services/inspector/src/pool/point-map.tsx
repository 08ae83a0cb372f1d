import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { openDrawer, type MapView, type PointDrawer } from '../parts/draw-points.ts';
import { lassoOf, type MapCorner } from './pool-filter.ts';
import type { Rgb } from './pool-colours.ts';

export type ColouredPoint = {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly colour: Rgb;
  /** False: a filter leaves it out. */
  readonly isShown: boolean;
};

const ZOOM = 1.3;
const MOST_ZOOM = 5_000;
/** A press that moves less than so many pixels is a click. */
const CLICK = 4;
/** A click chooses the nearest point so many pixels around it. */
const REACH = 10;

/** All points at once, with a little room around them. */
const wholeView = (points: readonly ColouredPoint[], width: number, height: number): MapView => {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.min(bottom, y);
    top = Math.max(top, y);
  }
  if (points.length === 0) return { x: 0, y: 0, scale: 1 };
  const across = Math.max(right - left, 1e-6);
  const up = Math.max(top - bottom, 1e-6);
  const scale = 0.9 * Math.min(width / across, height / up);
  return { x: (left + right) / 2, y: (bottom + top) / 2, scale: Math.min(scale, 400) };
};

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
  const { points, chosen, lasso, isLassoing, choose, circle, label } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawer = useRef<PointDrawer | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [kind, setKind] = useState<PointDrawer['kind'] | null>(null);
  /** Null: all of it. */
  const [moved, setMoved] = useState<MapView | null>(null);
  const view = moved ?? wholeView(points, Math.max(1, size.width), Math.max(1, size.height));
  const latest = useRef(view);
  latest.current = view;
  const frame = useRef(0);
  const drag = useRef<{ x: number; y: number; far: boolean; corners: MapCorner[] | null } | null>(null);
  const [drawn, setDrawn] = useState<readonly MapCorner[] | null>(null);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (canvas.current === null) return undefined;
    const opened = openDrawer(canvas.current);
    drawer.current = opened;
    setKind(opened.kind);
    return () => {
      drawer.current = null;
      opened.close();
    };
  }, []);

  const draw = (): void => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const { width, height } = size;
      if (width > 0 && height > 0)
        drawer.current?.draw(latest.current, { width, height, radius: radiusOf(points.length) });
    });
  };
  useEffect(() => {
    const places = new Float32Array(points.length * 2);
    const colours = new Uint8Array(points.length * 4);
    // Those that a filter leaves out are drawn first, below the others.
    const ordered = [...points.filter(({ isShown }) => !isShown), ...points.filter(({ isShown }) => isShown)];
    for (const [i, { x, y, colour, isShown }] of ordered.entries()) {
      places.set([x, y], i * 2);
      const [r, g, b] = colour;
      colours.set([r * 255, g * 255, b * 255, isShown ? 215 : 40], i * 4);
    }
    drawer.current?.load({ places, colours });
    draw();
  }, [points, kind]);
  useEffect(draw, [size, view.x, view.y, view.scale]);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);

  const onMap = (event: PointerEvent | WheelEvent): MapCorner => {
    const { left, top } = (box.current as HTMLElement).getBoundingClientRect();
    const { x, y, scale } = latest.current;
    return [
      x + (event.clientX - left - size.width / 2) / scale,
      y - (event.clientY - top - size.height / 2) / scale,
    ];
  };
  const onScreen = ([x, y]: MapCorner): MapCorner => [
    (x - view.x) * view.scale + size.width / 2,
    size.height / 2 - (y - view.y) * view.scale,
  ];
  const zoom = (by: number, around: MapCorner = [latest.current.x, latest.current.y]): void => {
    const { x, y, scale } = latest.current;
    const whole = wholeView(points, size.width, size.height).scale;
    const next = Math.max(whole / 4, Math.min(whole * MOST_ZOOM, scale * by));
    const part = 1 - scale / next;
    setMoved({ x: x + (around[0] - x) * part, y: y + (around[1] - y) * part, scale: next });
  };
  const move = (across: number, up: number): void => {
    const { x, y, scale } = latest.current;
    setMoved({ x: x + across / scale, y: y + up / scale, scale });
  };
  const nearest = (at: MapCorner): string | null => {
    let [found, least]: [string | null, number] = [null, REACH / latest.current.scale];
    for (const { id, x, y, isShown } of points) {
      const far = Math.hypot(x - at[0], y - at[1]);
      if (isShown && far <= least) [found, least] = [id, far];
    }
    return found;
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = KEYS[event.key];
    if (step !== undefined) move(step[0] * 60, step[1] * 60);
    else if (event.key === '+' || event.key === '=') zoom(ZOOM);
    else if (event.key === '-') zoom(1 / ZOOM);
    else if (event.key === '0') setMoved(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, onMap(event));
  };
  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const corners = isLassoing || event.shiftKey ? [onMap(event)] : null;
    drag.current = { x: event.clientX, y: event.clientY, far: false, corners };
  };
  const onMove = (event: PointerEvent): void => {
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
  };
  const onUp = (event: PointerEvent): void => {
    const now = drag.current;
    drag.current = null;
    setDrawn(null);
    if (now === null) return;
    if (!now.far) choose(nearest(onMap(event)));
    else if (now.corners !== null) circle(lassoOf(now.corners));
  };
  const here = points.find(({ id }) => id === chosen);
  const marked = here === undefined ? null : onScreen([here.x, here.y]);
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
        onPointerDown={onDown}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerCancel={() => {
          drag.current = null;
          setDrawn(null);
        }}
      >
        <canvas ref={canvas} aria-hidden="true" data-drawn-by={kind ?? ''} />
        <svg class="point-map-over" aria-hidden="true">
          {corners !== null && (
            <polygon points={corners.map((corner) => onScreen(corner).join(',')).join(' ')} />
          )}
          {marked !== null && <circle cx={marked[0]} cy={marked[1]} r="9" />}
        </svg>
      </div>
      <div class="point-map-keys" role="group" aria-label="Move the map">
        <button class="plain" onClick={() => zoom(ZOOM)} title="Larger (+, on the map)" aria-label="Larger">
          +
        </button>
        <button
          class="plain"
          onClick={() => zoom(1 / ZOOM)}
          title="Smaller (-, on the map)"
          aria-label="Smaller"
        >
          −
        </button>
        <button class="plain" onClick={() => setMoved(null)} title="All of it (0, on the map)">
          All
        </button>
      </div>
      {kind === 'software' && points.length > MANY && (
        <p class="quiet point-map-note">
          This browser draws without a graphics card: the processor draws {points.length.toLocaleString('en')}{' '}
          points at each step, and the map may follow slowly.
        </p>
      )}
      {kind === 'canvas' && (
        <p class="quiet point-map-note">
          This browser has no WebGL: the map is drawn without it, more slowly.
        </p>
      )}
    </div>
  );
};

const KEYS: Readonly<Record<string, MapCorner>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** More points than so many are drawn slowly by a processor. */
const MANY = 20_000;

/** Of many points each is small. */
const radiusOf = (count: number): number => (count > MANY ? 1.5 : count > 2_000 ? 2.5 : 4);
