import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { MapView } from '../parts/draw-points.ts';
import type { Rgb } from './pool-colours.ts';
import type { MapCorner } from './pool-filter.ts';

export type ColouredPoint = {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly colour: Rgb;
  /** False: a filter leaves it out. */
  readonly isShown: boolean;
};

type BoxSize = { readonly width: number; readonly height: number };

/** Which part of the map is in view. */
export type MapInView = {
  readonly size: BoxSize;
  readonly view: MapView;
  /** The view of the newest rendering, for whatever happens between two. */
  readonly latest: { readonly current: MapView };
  /** Enlarges around a point of the map; unless it is given, around the middle. */
  readonly zoom: (by: number, around?: MapCorner) => void;
  /** Moves the view by pixels. */
  readonly move: (across: number, up: number) => void;
  readonly showAll: () => void;
  readonly onMap: (event: PointerEvent | WheelEvent) => MapCorner;
  readonly onScreen: (corner: MapCorner) => MapCorner;
};

const MOST_ZOOM = 5_000;

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

const useBoxSize = (box: RefObject<HTMLElement | null>): BoxSize => {
  const [size, setSize] = useState<BoxSize>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return size;
};

/** Keeps which part of the map a box shows: all of it, until it is moved or enlarged. */
export const useMapView = (
  box: RefObject<HTMLElement | null>,
  points: readonly ColouredPoint[],
): MapInView => {
  const size = useBoxSize(box);
  /** Null: all of it. */
  const [moved, setMoved] = useState<MapView | null>(null);
  const view = moved ?? wholeView(points, Math.max(1, size.width), Math.max(1, size.height));
  const latest = useRef(view);
  latest.current = view;
  return {
    size,
    view,
    latest,
    zoom: (by, around = [latest.current.x, latest.current.y]) => {
      const { x, y, scale } = latest.current;
      const whole = wholeView(points, size.width, size.height).scale;
      const next = Math.max(whole / 4, Math.min(whole * MOST_ZOOM, scale * by));
      const part = 1 - scale / next;
      setMoved({ x: x + (around[0] - x) * part, y: y + (around[1] - y) * part, scale: next });
    },
    move: (across, up) => {
      const { x, y, scale } = latest.current;
      setMoved({ x: x + across / scale, y: y + up / scale, scale });
    },
    showAll: () => setMoved(null),
    onMap: (event) => {
      const { left, top } = (box.current as HTMLElement).getBoundingClientRect();
      const { x, y, scale } = latest.current;
      return [
        x + (event.clientX - left - size.width / 2) / scale,
        y - (event.clientY - top - size.height / 2) / scale,
      ];
    },
    onScreen: ([x, y]) => [
      (x - view.x) * view.scale + size.width / 2,
      size.height / 2 - (y - view.y) * view.scale,
    ],
  };
};
