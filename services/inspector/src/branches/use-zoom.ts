import { scaleLinear } from 'd3-scale';
import { useRef, useState } from 'preact/hooks';
import type { Seen } from '../parts/virtual-list.tsx';
import { APART, type Drawing, type PointGroup } from './branch-drawing.ts';
import type { Scale } from './branch-row.tsx';

/** Behind the newest cycle, for what stands there. */
const MARGIN = 22;
const MOST_NAMES = 380;
const ZOOM = 2;
/** The drawing is enlarged until so many pixels are a cycle; a position between two is in their middle. */
const MOST_CYCLE = 2 * APART;

/** What is enlarged, and what stands in the middle then; null: what was. */
type Zoom = { readonly factor: number; readonly middle: number | null };

export type Zooming = {
  readonly isEnlarged: boolean;
  readonly larger: () => void;
  readonly smaller: () => void;
  /** Shows all of the drawing. */
  readonly reset: () => void;
  /** Enlarges until points that are drawn as one are apart. */
  readonly enlarge: (group: PointGroup) => void;
  readonly scaleIn: (width: number) => Scale;
  /** How wide the drawing is in a list of that width, and which pixel is in its middle then. */
  readonly wide: {
    readonly of: (width: number) => number;
    readonly middle: (width: number) => number | null;
  };
  /** Notes what is in view. */
  readonly see: (seen: Seen) => void;
};

const scaleOf = (width: number, { last }: Drawing, factor: number): Scale => {
  const names = Math.round(Math.min(MOST_NAMES, 0.42 * width));
  const wide = Math.max(1, width - names - MARGIN) * factor;
  return { names, wide, place: scaleLinear([0, Math.max(1, last)], [names, names + wide]) };
};

/** Keeps how far a drawing is enlarged. @param x the position shown, in cycles */
export const useZoom = (drawing: Drawing, x: number | null): Zooming => {
  const [{ factor, middle }, setZoom] = useState<Zoom>({ factor: 1, middle: null });
  const latest = useRef<Seen | null>(null);
  const scaleIn = (width: number): Scale => scaleOf(width, drawing, factor);
  /** Enlarges around a cycle: unless it is given, around the position shown if it is in view, else what stands in the middle. */
  const zoomTo = (wanted: number, around?: number): void => {
    const { left, width } = latest.current ?? { left: 0, width: 0 };
    const { names, wide, place } = scaleIn(width);
    const most = Math.max(1, (MOST_CYCLE * drawing.last * factor) / wide);
    const isInView = x !== null && place(x) >= left + names && place(x) <= left + width;
    const inMiddle = ((left + (width - names) / 2) / wide) * drawing.last;
    setZoom({
      factor: Math.max(1, Math.min(most, wanted)),
      middle: around ?? (isInView ? x : inMiddle),
    });
  };
  return {
    isEnlarged: factor !== 1,
    larger: () => zoomTo(factor * ZOOM),
    smaller: () => zoomTo(factor / ZOOM),
    reset: () => zoomTo(1),
    enlarge: ({ points }) => {
      const [first] = points;
      const end = points.at(-1)?.x ?? first.x;
      // A third of what is in view: what stands around them stays in view.
      zoomTo(Math.max(factor * ZOOM, drawing.last / (3 * (end - first.x))), (first.x + end) / 2);
    },
    scaleIn,
    wide: {
      of: (width) => {
        const { names, wide } = scaleIn(width);
        return names + wide + MARGIN;
      },
      middle: (width) => {
        const { names, place } = scaleIn(width);
        return middle === null ? null : place(middle) - names / 2;
      },
    },
    see: (seen) => {
      latest.current = seen;
    },
  };
};
