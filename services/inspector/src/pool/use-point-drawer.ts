import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { openDrawer, type PointDrawer } from '../parts/draw-points.ts';
import type { ColouredPoint, MapInView } from './use-map-view.ts';

/** More points than so many are drawn slowly by a processor. */
export const MANY = 20_000;

/** Of many points each is small. */
const radiusOf = (count: number): number => (count > MANY ? 1.5 : count > 2_000 ? 2.5 : 4);

/** Draws points on a canvas whenever they or the view change. Returns what draws them; null before it is opened. */
export const usePointDrawer = (
  canvas: RefObject<HTMLCanvasElement | null>,
  points: readonly ColouredPoint[],
  { size, view, latest }: MapInView,
): PointDrawer['kind'] | null => {
  const drawer = useRef<PointDrawer | null>(null);
  const [kind, setKind] = useState<PointDrawer['kind'] | null>(null);
  const frame = useRef(0);
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
  return kind;
};
