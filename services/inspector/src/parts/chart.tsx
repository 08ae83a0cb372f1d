import { scaleLinear, type ScaleLinear } from 'd3-scale';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { partsIn, PARTS, type CallPoint, type ChartEvent, type StackedBy } from './series.ts';

/** Heights of the bands of the chart, from top to bottom, in CSS pixels. */
const BANDS = { events: 16, tokens: 150, change: 44, time: 30 } as const;
const GAP = 6;

/** Variables of the style sheet by the parts that they colour. */
const COLOURS: Readonly<Record<StackedBy, readonly string[]>> = {
  regions: ['--system', '--branch-line', '--accent', '--tool'],
  roles: ['--system', '--user', '--assistant', '--tool', '--other'],
};
export const colourOf = (stack: StackedBy, part: number): string => COLOURS[stack][part] ?? '--other';

const EVENT_COLOURS: Readonly<Record<ChartEvent['kind'], string>> = {
  intervention: '--accent',
  held: '--tool',
  saved: '--flag',
  branch: '--branch-line',
  error: '--bad',
};

/** From the number of a call to the left of its column, in pixels: each has one, or shares a pixel with others. */
const columns = (count: number, width: number): ScaleLinear<number, number> =>
  scaleLinear([0, Math.max(1, count)], [0, width]);
/** The middle of a call's column. */
const columnX = (index: number, count: number, width: number): number => columns(count, width)(index + 0.5);
const indexAtX = (x: number, count: number, width: number): number =>
  Math.max(0, Math.min(count - 1, Math.floor(columns(count, Math.max(1, width)).invert(x))));

/** The calls of a branch as stacked tokens, with what entered and was removed, how long each took, and what happened. */
export const Chart = ({
  points,
  events,
  stack,
  selected,
  other,
  choose,
  onKey,
}: {
  readonly points: readonly CallPoint[];
  readonly events: readonly ChartEvent[];
  readonly stack: StackedBy;
  readonly selected: number;
  readonly other: number | null;
  readonly choose: (index: number) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}): ComponentChildren => {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const hasTimes = points.some(({ attempt }) => attempt?.duration_ms != null);
  const height = BANDS.events + BANDS.tokens + BANDS.change + 2 * GAP + (hasTimes ? BANDS.time + GAP : 0);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // The chart is drawn once for its data; what moves while somebody scrubs are the lines over it.
  useEffect(() => {
    const element = canvas.current;
    if (element === null || width === 0) return undefined;
    const redraw = (): void => draw(element, { points, events, stack, width, height, hasTimes });
    redraw();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => scheme.removeEventListener('change', redraw);
  }, [points, events, stack, width, height]);

  const chooseAt = (event: PointerEvent): void => {
    const { left, width: across } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    choose(indexAtX(event.clientX - left, points.length, across));
  };
  const point = points[selected];
  return (
    <div
      ref={box}
      class="chart"
      role="slider"
      tabIndex={0}
      aria-label="Call"
      aria-valuemin={points[0]?.cycle ?? 0}
      aria-valuemax={points.at(-1)?.cycle ?? 0}
      aria-valuenow={point?.cycle ?? 0}
      aria-valuetext={
        point === undefined ? 'none' : `${point.label}, ${point.tokens} tokens, ${point.messages} messages`
      }
      style={{ height: `${height}px` }}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        chooseAt(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && chooseAt(event)}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {other !== null && (
        <span class="chart-line is-other" style={{ left: `${columnX(other, points.length, width)}px` }} />
      )}
      {selected >= 0 && (
        <span class="chart-line" style={{ left: `${columnX(selected, points.length, width)}px` }} />
      )}
    </div>
  );
};

type Drawn = {
  readonly points: readonly CallPoint[];
  readonly events: readonly ChartEvent[];
  readonly stack: StackedBy;
  readonly width: number;
  readonly height: number;
  readonly hasTimes: boolean;
};

const draw = (canvas: HTMLCanvasElement, drawn: Drawn): void => {
  const { points, events, stack, width, height, hasTimes } = drawn;
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(name);
  context.scale(scale, scale);
  context.clearRect(0, 0, width, height);
  const column = Math.max(1, width / Math.max(1, points.length));
  const bar = column > 4 ? column - 1 : column;
  const left = columns(points.length, width);
  const rows = tallest(points, width);

  const tokensBottom = BANDS.events + BANDS.tokens;
  const heightOf = bandScale(
    BANDS.tokens,
    rows.map(({ point }) => point.tokens),
  );
  for (const [part] of PARTS[stack].entries()) {
    context.fillStyle = colour(colourOf(stack, part));
    for (const { index, point } of rows) {
      const parts = partsIn(point, stack);
      const under = parts.slice(0, part).reduce((sum, each) => sum + each, 0);
      const high = heightOf(parts[part] ?? 0);
      context.fillRect(left(index), tokensBottom - heightOf(under) - high, bar, high);
    }
  }

  const changeMiddle = tokensBottom + GAP + BANDS.change / 2;
  const changed = bandScale(
    BANDS.change / 2 - 1,
    rows.map(({ point }) => Math.max(point.entered, point.removed)),
  );
  const changeHeight = (count: number): number => (count === 0 ? 0 : Math.max(1.5, changed(count)));
  context.fillStyle = colour('--line');
  context.fillRect(0, changeMiddle, width, 1);
  context.fillStyle = colour('--new');
  for (const { index, point } of rows)
    context.fillRect(left(index), changeMiddle, bar, -changeHeight(point.entered));
  context.fillStyle = colour('--gone');
  for (const { index, point } of rows)
    context.fillRect(left(index), changeMiddle + 1, bar, changeHeight(point.removed));

  if (hasTimes) {
    const bottom = tokensBottom + BANDS.change + 2 * GAP + BANDS.time;
    const timeOf = bandScale(
      BANDS.time,
      rows.map(({ point }) => point.attempt?.duration_ms ?? 0),
    );
    for (const { index, point } of rows) {
      const { attempt } = point;
      if (attempt === null) continue;
      const isGood = attempt.status === 'answered' || attempt.status === 'unknown';
      context.fillStyle = colour(isGood ? '--quiet' : '--bad');
      const high = Math.max(2, timeOf(attempt.duration_ms ?? 0));
      context.fillRect(left(index), bottom - high, bar, high);
    }
  }

  for (const { index, kind } of events) {
    const x = left(index + 0.5);
    context.fillStyle = colour(EVENT_COLOURS[kind]);
    context.beginPath();
    if (kind === 'held') context.rect(x - 4, 4, 8, 8);
    else if (kind === 'branch') context.arc(x, 8, 3.5, 0, 7);
    else {
      context.moveTo(x, 2);
      context.lineTo(x + 5, 8);
      context.lineTo(x, 14);
      context.lineTo(x - 5, 8);
    }
    context.fill();
  }
};

/** Heights in a band that the largest of the values fills. */
const bandScale = (height: number, values: readonly number[]): ScaleLinear<number, number> =>
  scaleLinear([0, Math.max(1, ...values)], [0, height]);

/** Where calls share a pixel, the one with most tokens stands for them. */
const tallest = (
  points: readonly CallPoint[],
  width: number,
): readonly { readonly index: number; readonly point: CallPoint }[] => {
  if (points.length <= width) return points.map((point, index) => ({ index, point }));
  const rows = new Map<number, { index: number; point: CallPoint }>();
  for (const [index, point] of points.entries()) {
    const pixel = Math.floor((index / points.length) * width);
    const known = rows.get(pixel);
    if (known === undefined || known.point.tokens < point.tokens) rows.set(pixel, { index, point });
  }
  return [...rows.values()];
};
