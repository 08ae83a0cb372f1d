import { html, type Html } from './html.ts';

/** A line of a plot: its class says its colour, and points that are null are gaps. */
export type PlotLine = {
  readonly name: string;
  readonly look: 'a' | 'b';
  readonly points: readonly (readonly [x: number, y: number | null])[];
};

/** A point of a map. */
export type MapPoint = {
  readonly x: number;
  readonly y: number;
  readonly look: 'a' | 'b' | 'shared';
  /** What it is, for who points at it. */
  readonly text: string;
};

/** An effect with its interval. */
export type PlotInterval = {
  readonly name: string;
  readonly look: 'a' | 'b';
  readonly value: number;
  readonly low: number;
  readonly high: number;
};

/** What is there from round to round: a row of bars for each, as high as it is large. */
export type PlotBars = {
  readonly name: string;
  readonly sizes: readonly (readonly [x: number, size: number])[];
};

const WIDTH = 560;
const LEFT = 52;
const RIGHT = 12;
const INNER = WIDTH - LEFT - RIGHT;

/** Up to four digits, the same everywhere. */
export const shortNumber = (value: number): string => String(Number(value.toPrecision(4)));
const at = (value: number): string => value.toFixed(1);

type Range = { readonly low: number; readonly high: number };

const rangeOf = (values: readonly number[], least: number): Range => {
  if (values.length === 0) return { low: 0, high: 1 };
  const [low, high] = values.reduce<readonly [number, number]>(
    ([lowest, highest], value) => [Math.min(lowest, value), Math.max(highest, value)] as const,
    [Infinity, -Infinity],
  );
  const missing = Math.max(0, least - (high - low)) / 2;
  return { low: low - missing, high: high + missing };
};

const scaleOf =
  ({ low, high }: Range, from: number, to: number) =>
  (value: number): number =>
    high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from);

const frame = (height: number, label: string, inner: readonly Html[]): Html =>
  html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}" class="plot">${inner}</svg>`;

const axis = (x: Range, y: Range, height: number, bottom: number): readonly Html[] => [
  html`<line class="axis" x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}" />`,
  html`<text x="${LEFT}" y="${height - 6}">${shortNumber(x.low)}</text>`,
  html`<text x="${WIDTH - RIGHT}" y="${height - 6}" text-anchor="end">${shortNumber(x.high)}</text>`,
  html`<text x="${LEFT - 6}" y="${bottom}" text-anchor="end">${shortNumber(y.low)}</text>`,
  html`<text x="${LEFT - 6}" y="18" text-anchor="end">${shortNumber(y.high)}</text>`,
];

/** Lines over rounds; `parted` is where they part. */
export const linePlot = (label: string, lines: readonly PlotLine[], parted: number | null): Html => {
  const height = 190;
  const bottom = height - 26;
  const points = lines.flatMap((line) => line.points);
  const known = points.flatMap(([, y]) => (y === null ? [] : [y]));
  const [x, y] = [
    rangeOf(
      points.map(([each]) => each),
      1,
    ),
    rangeOf(known, 1e-6),
  ];
  const [toX, toY] = [scaleOf(x, LEFT, LEFT + INNER), scaleOf(y, bottom - 4, 14)];
  const path = (line: PlotLine): string => {
    let pen = 'M';
    return line.points
      .map(([px, py]) => {
        if (py === null) {
          pen = 'M';
          return '';
        }
        const part = `${pen}${at(toX(px))} ${at(toY(py))}`;
        pen = 'L';
        return part;
      })
      .join('');
  };
  return frame(height, label, [
    ...axis(x, y, height, bottom),
    ...(parted === null
      ? []
      : [
          html`<line
            class="parted"
            x1="${at(toX(parted))}"
            y1="10"
            x2="${at(toX(parted))}"
            y2="${bottom}"
          />`,
        ]),
    ...lines.map((line) => html`<path class="line ${line.look}" d="${path(line)}" />`),
    ...lines.flatMap((line) =>
      alone(line).map(
        ([px, py]) => html`<circle class="dot ${line.look}" cx="${at(toX(px))}" cy="${at(toY(py))}" r="3" />`,
      ),
    ),
  ]);
};

/** The points without a neighbour, which a line does not show. */
const alone = ({ points }: PlotLine): readonly (readonly [x: number, y: number])[] => {
  const isGap = (i: number): boolean => (points[i]?.[1] ?? null) === null;
  return points.flatMap(([x, y], i) => (y !== null && isGap(i - 1) && isGap(i + 1) ? [[x, y] as const] : []));
};

/** A map of messages. */
export const mapPlot = (label: string, points: readonly MapPoint[]): Html => {
  const height = 420;
  const [x, y] = [
    rangeOf(
      points.map((point) => point.x),
      1,
    ),
    rangeOf(
      points.map((point) => point.y),
      1,
    ),
  ];
  const [toX, toY] = [scaleOf(x, 14, WIDTH - 14), scaleOf(y, height - 14, 14)];
  return frame(
    height,
    label,
    points.map(({ x: px, y: py, look, text }) => {
      const [cx, cy] = [toX(px), toY(py)];
      return look === 'b'
        ? html`<rect class="dot b" x="${at(cx - 4)}" y="${at(cy - 4)}" width="8" height="8"
            ><title>${text}</title></rect
          >`
        : html`<circle class="dot ${look}" cx="${at(cx)}" cy="${at(cy)}" r="${look === 'a' ? 4.5 : 3}"
            ><title>${text}</title></circle
          >`;
    }),
  );
};

/** Effects with their intervals, and the sizes that are asked for. */
export const intervalPlot = (
  label: string,
  intervals: readonly PlotInterval[],
  marks: readonly number[],
): Html => {
  const names = 190;
  const height = 40 + intervals.length * 26;
  const highest = Math.max(0.1, ...marks, ...intervals.map(({ high }) => high));
  const toX = scaleOf({ low: 0, high: highest }, names, WIDTH - 20);
  const bottom = height - 24;
  return frame(height, label, [
    html`<line class="axis" x1="${names}" y1="${bottom}" x2="${WIDTH - 20}" y2="${bottom}" />`,
    html`<text x="${names}" y="${height - 6}">0</text>`,
    html`<text x="${WIDTH - 20}" y="${height - 6}" text-anchor="end">${shortNumber(highest)}</text>`,
    ...marks.map(
      (mark) =>
        html`<line class="parted" x1="${at(toX(mark))}" y1="8" x2="${at(toX(mark))}" y2="${bottom}" />`,
    ),
    ...intervals.flatMap(({ name, look, value, low, high }, i) => {
      const y = 22 + i * 26;
      return [
        html`<text x="${names - 10}" y="${y + 4}" text-anchor="end">${name}</text>`,
        html`<line class="line ${look}" x1="${at(toX(low))}" y1="${y}" x2="${at(toX(high))}" y2="${y}" />`,
        html`<circle class="dot ${look}" cx="${at(toX(value))}" cy="${y}" r="5" />`,
      ];
    }),
  ]);
};

/** Bars over rounds. */
export const barPlot = (
  label: string,
  series: readonly PlotBars[],
  look: 'a' | 'b',
  parted: number | null,
): Html => {
  const rowHeight = 26;
  const height = 34 + Math.max(1, series.length) * rowHeight;
  const bottom = height - 26;
  const all = series.flatMap(({ sizes }) => sizes);
  const x = rangeOf(
    all.map(([each]) => each),
    1,
  );
  const largest = Math.max(1, ...all.map(([, size]) => size));
  const toX = scaleOf(x, LEFT, LEFT + INNER - 6);
  const width = Math.max(1.5, INNER / Math.max(1, x.high - x.low) - 1);
  return frame(height, label, [
    html`<line class="axis" x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}" />`,
    html`<text x="${LEFT}" y="${height - 6}">${shortNumber(x.low)}</text>`,
    html`<text x="${WIDTH - RIGHT}" y="${height - 6}" text-anchor="end">${shortNumber(x.high)}</text>`,
    ...(parted === null
      ? []
      : [
          html`<line class="parted" x1="${at(toX(parted))}" y1="2" x2="${at(toX(parted))}" y2="${bottom}" />`,
        ]),
    ...series.flatMap(({ name, sizes }, i) => {
      const base = (i + 1) * rowHeight;
      return [
        html`<text x="${LEFT - 6}" y="${base - 3}" text-anchor="end">${name}</text>`,
        ...sizes.map(([px, size]) => {
          const high = Math.max(1.5, (size / largest) * (rowHeight - 6));
          return html`<rect
            class="bar ${look}"
            x="${at(toX(px))}"
            y="${at(base - high)}"
            width="${at(Math.min(width, 14))}"
            height="${at(high)}"
          />`;
        }),
      ];
    }),
  ]);
};
