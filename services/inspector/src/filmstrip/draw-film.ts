import type { FilmCellAnswer } from '@stemma/api';
import { grouped } from '@stemma/api';
import { decisionWords, hasFailed, type Film, type Track } from './film-tracks.ts';
import { columnLeft, trackTop, type FilmLayout } from './film-layout.ts';
import { fittedName } from './film-names.ts';
import { visible } from '../parts/safe-text.tsx';
import { plural } from '../parts/words.ts';

/** A call that waits: its column, the row of its branch, and what stands in it. */
export type HeldCell = { readonly cycle: number; readonly row: number; readonly words: string };

/** What is drawn on the filmstrip; what is chosen lies behind and over it, and is no part of the drawing. */
export type DrawnFilm = {
  readonly film: Film;
  readonly layout: FilmLayout;
  readonly scroll: number;
  /** Names of saved positions by row and cycle, as `0.12`. */
  readonly saved: ReadonlyMap<string, readonly string[]>;
  readonly held: readonly HeldCell[];
};

const ROLES = ['system', 'user', 'assistant', 'tool', 'other'] as const;

/** The pen of one drawing: the context, the colours of the page, the font. */
type Pen = {
  readonly context: CanvasRenderingContext2D;
  readonly colour: (name: string) => string;
  readonly text: (
    words: string,
    x: number,
    y: number,
    style: {
      readonly colour: string;
      readonly size?: number;
      readonly bold?: boolean;
      readonly align?: CanvasTextAlign;
    },
  ) => void;
  readonly widthOf: (words: string, size: number) => number;
};

const penOf = (canvas: HTMLCanvasElement): Pen | null => {
  const context = canvas.getContext('2d');
  if (context === null) return null;
  const style = getComputedStyle(canvas);
  const colours = new Map<string, string>();
  const colour = (name: string): string => {
    const known = colours.get(name) ?? style.getPropertyValue(name);
    colours.set(name, known);
    return known;
  };
  const widths = new Map<string, number>();
  const font = (size: number, bold = false): string => `${bold ? '700 ' : ''}${size}px ${style.fontFamily}`;
  return {
    context,
    colour,
    text: (words, x, y, { colour: name, size = 11, bold = false, align = 'center' }) => {
      context.font = font(size, bold);
      context.textAlign = align;
      context.fillStyle = colour(name);
      context.fillText(words, x, y);
    },
    widthOf: (words, size) => {
      const key = `${size} ${words}`;
      const known = widths.get(key);
      if (known !== undefined) return known;
      context.font = font(size);
      const width = context.measureText(words).width;
      widths.set(key, width);
      return width;
    },
  };
};

/** Makes a canvas as large as the screen shows it sharply, and empties it. */
const clear = (canvas: HTMLCanvasElement, width: number, height: number): Pen | null => {
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = penOf(canvas);
  pen?.context.setTransform(scale, 0, 0, scale, 0, 0);
  return pen;
};

/** Draws the columns in view. */
export const drawFilm = (canvas: HTMLCanvasElement, drawn: DrawnFilm): void => {
  const { film, layout, scroll, held } = drawn;
  const pen = clear(canvas, layout.width, layout.height);
  if (pen === null) return;
  drawAxis(pen, layout);
  pen.context.save();
  pen.context.beginPath();
  pen.context.rect(layout.axis, 0, layout.width - layout.axis, layout.height);
  pen.context.clip();
  const from = film.first + Math.floor(scroll);
  const to = from + Math.ceil(layout.inView) + 1;
  for (const track of film.tracks) {
    const top = trackTop(layout, track.row);
    if (top === null) continue;
    const seen = cellsBetween(track.cells, from, to);
    if (track.row === 0) for (const cell of seen) drawMainCell(pen, drawn, track, cell);
    else drawTrack(pen, drawn, track, seen, top);
  }
  for (const one of held) drawHeld(pen, drawn, one);
  pen.context.restore();
};

/** The cells of a track have rising cycles without gaps. */
const cellsBetween = (
  cells: readonly FilmCellAnswer[],
  from: number,
  to: number,
): readonly FilmCellAnswer[] => {
  const first = cells[0]?.cycle ?? 0;
  return cells.slice(Math.max(0, from - first), Math.max(0, to - first));
};

const tickWords = (tick: number): string => (tick >= 10_000 ? `${grouped(tick / 1000)}k` : grouped(tick));

const drawAxis = ({ context, colour, text }: Pen, layout: FilmLayout): void => {
  const { ticks, axis, base, bars, top, width, isSmall, names, life, changes, mainHeight } = layout;
  context.fillStyle = colour('--line');
  for (const tick of ticks) {
    const y = Math.round(base - (tick / top) * (bars - 2));
    context.fillRect(axis, y, width - axis - 8, 1);
    text(tickWords(tick), axis - 6, y + 4, { colour: '--quiet', align: 'right' });
    context.fillStyle = colour('--line');
  }
  text('tokens', 4, 11, { colour: '--quiet', align: 'left' });
  text('call', 4, mainHeight - 4, { colour: '--quiet', align: 'left' });
  if (!isSmall && names > 0)
    text('decided', 4, base + changes + life + 11, { colour: '--quiet', align: 'left' });
};

/** Where the bar of a column is. */
const barOf = ({ cell }: FilmLayout, left: number): { readonly x: number; readonly width: number } => {
  const width = Math.max(2, cell - (cell > 30 ? 6 : cell > 16 ? 3 : 1));
  return { x: left + (cell - width) / 2, width };
};

/** The tokens of a call by role, from a line upwards, each part above a line of the colour behind. */
const drawBar = (
  { context, colour }: Pen,
  cell: FilmCellAnswer,
  {
    x,
    width,
    base,
    high,
  }: { readonly x: number; readonly width: number; readonly base: number; readonly high: number },
): number => {
  let y = base;
  for (const role of ROLES) {
    const tokens = cell.roles[role];
    if (tokens === 0) continue;
    const part = (tokens * high) / Math.max(1, cell.tokens);
    context.fillStyle = colour(`--fill-${role}`);
    context.fillRect(x, y - part, width, Math.max(0.6, part - (part > 3 ? 1 : 0.3)));
    y -= part;
  }
  return y;
};

const drawMainCell = (
  pen: Pen,
  { film, layout, scroll, saved }: DrawnFilm,
  track: Track,
  cell: FilmCellAnswer,
): void => {
  const { context, colour, text } = pen;
  const { base, bars, top, changes, mainHeight } = layout;
  const left = columnLeft(layout, film, cell.cycle, scroll);
  const { x, width } = barOf(layout, left);
  const scaled = (tokens: number): number => (tokens / top) * (bars - 2);
  const failed = hasFailed(cell);
  const end = drawBar(pen, cell, { x, width, base, high: scaled(cell.tokens) });
  if (failed) {
    context.fillStyle = colour('--gone');
    context.fillRect(x, end - 4, width, 3);
  }
  const middle = x + width / 2;
  const half = Math.max(1.5, width * 0.28);
  const low = (tokens: number): number =>
    tokens === 0 ? 0 : Math.max(1, Math.min(changes - 3, scaled(tokens)));
  // The first call is all new.
  if (cell.came !== null && cell.cycle !== film.first) {
    context.fillStyle = colour('--new');
    context.fillRect(middle - half - 1, base + 2, half, low(cell.came.tokens));
  }
  if (cell.left !== null) {
    context.fillStyle = colour('--gone');
    context.fillRect(middle + 1, base + 2, half, low(cell.left.tokens));
  }
  drawName(pen, layout, left, cell, failed);
  if (layout.cell >= 17 || cell.cycle % 5 === 0 || cell.cycle === film.first)
    text(String(cell.cycle), left + layout.cell / 2, mainHeight - 5, { colour: '--quiet' });
  drawMarks(pen, layout, left + layout.cell / 2, 9, cell, saved.get(`${track.row}.${cell.cycle}`) ?? []);
};

const drawName = (
  { text, widthOf }: Pen,
  { cell: width, base, changes, life, names }: FilmLayout,
  left: number,
  cell: FilmCellAnswer,
  failed: boolean,
): void => {
  if (names === 0) return;
  const words = decisionWords(cell);
  const size = 10.5;
  const sign = failed ? (width > 34 ? '✕ ' : '✕') : '';
  const room = width - 2 - (width >= 60 ? 0 : widthOf(sign, size));
  const lines = fittedName(
    visible(words),
    room,
    (part) => widthOf(part, size) * (failed ? 1.08 : 1),
    width >= 60,
  );
  const colour = failed
    ? '--gone'
    : words === 'answer'
      ? '--assistant'
      : words === '–'
        ? '--quiet'
        : '--tool';
  for (const [i, line] of lines.entries())
    text(`${i === 0 ? sign : ''}${line}`, left + width / 2, base + changes + life + 11 + i * 12, {
      colour,
      size,
      bold: failed,
    });
};

const drawMarks = (
  { context, colour, text }: Pen,
  { cell: width }: FilmLayout,
  middle: number,
  y: number,
  cell: FilmCellAnswer,
  saved: readonly string[],
): void => {
  const marks = [
    ...(cell.interventions.length > 0 ? ['intervention'] : []),
    ...(cell.compacted ? ['compaction'] : []),
    ...(saved.length > 0 ? ['saved'] : []),
  ];
  for (const [i, mark] of marks.entries()) {
    const x = middle + (i - (marks.length - 1) / 2) * 13;
    context.beginPath();
    if (mark === 'intervention') {
      context.fillStyle = colour('--accent');
      context.moveTo(x, y - 5.5);
      context.lineTo(x + 5.5, y);
      context.lineTo(x, y + 5.5);
      context.lineTo(x - 5.5, y);
      context.fill();
    } else if (mark === 'compaction') {
      context.strokeStyle = colour('--gone');
      context.lineWidth = 1.8;
      for (const at of [y - 5, y + 5]) {
        context.moveTo(x - 6, at);
        context.lineTo(x + 6, at);
      }
      context.moveTo(x - 4, y - 2);
      context.lineTo(x, y + 0.6);
      context.lineTo(x + 4, y - 2);
      context.stroke();
    } else {
      context.fillStyle = colour('--flag');
      context.fillRect(x - 3, y - 5, 1.5, 11);
      context.moveTo(x - 3, y - 5);
      context.lineTo(x + 5, y - 5);
      context.lineTo(x + 2.5, y - 2);
      context.lineTo(x + 5, y + 1);
      context.lineTo(x - 3, y + 1);
      context.fill();
      if (width > 50) text(visible(saved[0] ?? ''), x + 8, y + 4, { colour: '--flag', align: 'left' });
    }
  }
};

/** A branch besides `main`: from where it parts, its calls, and its name. */
const drawTrack = (
  pen: Pen,
  { film, layout, scroll, saved }: DrawnFilm,
  track: Track,
  seen: readonly FilmCellAnswer[],
  top: number,
): void => {
  const { context, colour } = pen;
  const base = top + layout.trackHeight - 6;
  const parted = track.parting?.cycle ?? film.first;
  const from = columnLeft(layout, film, parted + 1, scroll) - 1;
  const parentTop = trackTop(layout, track.parting?.row ?? 0);
  const begin =
    track.parting?.row === 0 || parentTop === null ? layout.mainHeight : parentTop + layout.trackHeight - 5;
  const end = columnLeft(layout, film, (track.cells.at(-1)?.cycle ?? parted) + 1, scroll);
  context.strokeStyle = colour('--edge');
  context.lineWidth = 1.5;
  context.setLineDash(track.abandoned ? [4, 3] : []);
  context.beginPath();
  context.moveTo(from, begin);
  context.lineTo(from, base - 5);
  context.quadraticCurveTo(from, base + 1, from + 6, base + 1);
  context.lineTo(Math.max(from + 10, end), base + 1);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.fillStyle = colour('--panel');
  context.arc(from, begin, 3.5, 0, 7);
  context.fill();
  context.stroke();
  const high = layout.isSmall ? 10 : layout.trackHeight - 20;
  for (const cell of seen) {
    const left = columnLeft(layout, film, cell.cycle, scroll);
    const { x, width } = barOf(layout, left);
    const ended = drawBar(pen, cell, { x, width, base, high: (cell.tokens / layout.top) * high });
    if (hasFailed(cell)) {
      context.fillStyle = colour('--gone');
      context.fillRect(x, ended - 4, width, 3);
    }
    drawMarks(
      pen,
      { ...layout, cell: 0 },
      left + layout.cell / 2,
      top + (layout.isSmall ? 6 : 9),
      cell,
      saved.get(`${track.row}.${cell.cycle}`) ?? [],
    );
  }
  drawTrackName(pen, layout, track, Math.max(layout.axis, from, end) + 6, base - 3);
};

const drawTrackName = (
  { text, widthOf }: Pen,
  layout: FilmLayout,
  track: Track,
  x: number,
  y: number,
): void => {
  const { name, cells, abandoned, parting, description } = track;
  const words = [
    visible(name),
    `${plural(cells.length, 'call')}${abandoned ? ', rolled back' : ''}`,
    `parts after @c${parting?.cycle ?? 0}`,
    ...(description === '' ? [] : [visible(description.slice(0, 120))]),
  ];
  const room = layout.width - x - 8;
  while (words.length > 1 && widthOf(words.join(' · '), 11.5) > room) words.pop();
  // Where the branch fills the row, its name is over its end.
  if (room > 30) text(words.join(' · '), x, y, { colour: '--quiet', size: 11.5, align: 'left' });
};

const drawHeld = (
  { context, colour, text }: Pen,
  { film, layout, scroll }: DrawnFilm,
  held: HeldCell,
): void => {
  const top = trackTop(layout, held.row);
  if (top === null) return;
  const left = columnLeft(layout, film, held.cycle, scroll);
  const [y, high] = held.row === 0 ? [layout.marks, layout.bars] : [top + 10, layout.trackHeight - 18];
  context.strokeStyle = colour('--gone');
  context.lineWidth = 1.5;
  context.setLineDash([4, 3]);
  context.strokeRect(left + 3, y, layout.cell - 6, high);
  context.setLineDash([]);
  const [x, middle] = [left + layout.cell / 2, y + high / 2];
  context.strokeRect(x - 5, middle - 2, 10, 8);
  context.beginPath();
  context.arc(x, middle - 3, 3, Math.PI, 0);
  context.stroke();
  if (held.row === 0 && layout.names > 0)
    text(held.words, x, layout.base + layout.changes + layout.life + 11, {
      colour: '--gone',
      size: 10.5,
      bold: true,
    });
};

/** Below a strip that scrolls: all calls of the first row, of each pixel the one with most tokens, failures as ticks. */
export const drawOverview = (canvas: HTMLCanvasElement, film: Film, width: number, height: number): void => {
  const pen = clear(canvas, width, height);
  if (pen === null) return;
  const { context, colour } = pen;
  const cells = film.tracks[0]?.cells ?? [];
  const most = cells.reduce((high, { tokens }) => Math.max(high, tokens), 1);
  const highs = new Float64Array(Math.max(1, Math.ceil(width)));
  const columns = Math.max(1, film.last - film.first + 1);
  context.fillStyle = colour('--gone');
  for (const cell of cells) {
    const x = Math.floor(((cell.cycle - film.first) / columns) * width);
    highs[x] = Math.max(highs[x] ?? 0, cell.tokens);
    if (hasFailed(cell)) context.fillRect(x, 0, 1, 4);
  }
  context.fillStyle = colour('--fill-assistant');
  for (const [x, tokens] of highs.entries()) {
    const high = (tokens / most) * (height - 6);
    context.fillRect(x, height - high, 1, high);
  }
};
