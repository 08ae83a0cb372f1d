import { scaleLinear } from 'd3-scale';
import type { Film, Track } from './film-tracks.ts';

/** Where things of the filmstrip are, in CSS pixels. */
export type FilmLayout = {
  readonly width: number;
  readonly height: number;
  /** Where the first column begins, and how wide each is. */
  readonly axis: number;
  readonly cell: number;
  /** Columns that are in view at once; all of them unless `scrolls`. */
  readonly inView: number;
  readonly columns: number;
  readonly scrolls: boolean;
  /** From top to bottom of the first row. */
  readonly marks: number;
  readonly bars: number;
  /** The line on which bars stand. */
  readonly base: number;
  readonly changes: number;
  readonly life: number;
  readonly names: number;
  readonly numbers: number;
  readonly mainHeight: number;
  readonly trackHeight: number;
  /** Rows below the first that are in view: track `row` is drawn at `row - tracksFrom - 1`. */
  readonly tracksFrom: number;
  readonly tracksShown: number;
  /** Tracks are low, and the words at the left few. */
  readonly isSmall: boolean;
  /** The most tokens of a call, and the ticks up to there. */
  readonly top: number;
  readonly ticks: readonly number[];
};

const WIDEST = 92;
const NARROWEST = 12;
/** So many columns are in view of a history that has more than fit. */
const WINDOW = 60;
const MOST_TRACKS = 4;

export type LayoutOptions = {
  /** The row that is kept in view. */
  readonly row: number;
  /** Columns behind the newest call. */
  readonly extraColumns: number;
  /** The strip is above a view that needs the room. */
  readonly isLow: boolean;
};

export const layoutOf = (
  film: Film,
  width: number,
  { row, extraColumns, isLow }: LayoutOptions,
): FilmLayout => {
  const isSmall = width < 500;
  const axis = isSmall ? 40 : 58;
  const columns = Math.max(1, film.last - film.first + 1 + extraColumns);
  const room = Math.max(60, width - axis - 14);
  const scrolls = columns * NARROWEST > room;
  const inView = scrolls ? Math.min(WINDOW, Math.floor(room / NARROWEST)) : columns;
  const cell = Math.min(WIDEST, room / inView);
  const marks = 20;
  const bars = isLow ? 34 : isSmall ? 46 : 76;
  const [changes, life, numbers] = isLow ? [11, 0, 17] : [17, 9, 17];
  const names = isLow ? 0 : cell >= 60 ? 27 : cell >= 22 ? 15 : 0;
  const base = marks + bars;
  const mainHeight = base + changes + life + names + numbers;
  const trackHeight = isSmall || isLow ? 26 : 38;
  const others = film.tracks.length - 1;
  const tracksShown = Math.max(0, Math.min(isLow ? 1 : MOST_TRACKS, others));
  const tracksFrom = Math.max(0, Math.min(others - tracksShown, row - Math.ceil(tracksShown / 2)));
  let most = 1;
  for (const { cells } of film.tracks) for (const { tokens } of cells) most = Math.max(most, tokens);
  const ticks = scaleLinear([0, most], [0, 1]).ticks(3);
  return {
    ...{ width, axis, cell, inView, columns, scrolls, marks, bars, base, changes, life, names, numbers },
    ...{ mainHeight, trackHeight, tracksFrom, tracksShown, isSmall: isSmall || isLow, ticks },
    top: most,
    height: mainHeight + tracksShown * trackHeight + (tracksShown > 0 ? 6 : 0),
  };
};

/** The left of the column of a cycle; `scroll`: the number of columns left of the first one in view. */
export const columnLeft = (layout: FilmLayout, film: Film, cycle: number, scroll: number): number =>
  layout.axis + (cycle - film.first - scroll) * layout.cell;

/** The top of a track, and null of one that is not in view. */
export const trackTop = (layout: FilmLayout, row: number): number | null => {
  if (row === 0) return 0;
  const at = row - 1 - layout.tracksFrom;
  return at < 0 || at >= layout.tracksShown ? null : layout.mainHeight + 4 + at * layout.trackHeight;
};

/** The scroll with which a cycle is in view: the one there is, if it is. */
export const scrollTo = (layout: FilmLayout, film: Film, cycle: number, scroll: number): number => {
  const most = Math.max(0, layout.columns - layout.inView);
  const at = cycle - film.first;
  const kept = Math.max(0, Math.min(most, scroll));
  if (at >= kept && at + 1 <= kept + layout.inView) return kept;
  return Math.max(0, Math.min(most, at - Math.floor(layout.inView / 2)));
};

/** What is under a point: a cycle and a track. */
export const cellAt = (
  layout: FilmLayout,
  film: Film,
  scroll: number,
  { x, y }: { readonly x: number; readonly y: number },
): { readonly cycle: number; readonly track: Track } | null => {
  const cycle = Math.floor((x - layout.axis) / layout.cell + scroll) + film.first;
  const row =
    y < layout.mainHeight + 4
      ? 0
      : Math.floor((y - layout.mainHeight - 4) / layout.trackHeight) + 1 + layout.tracksFrom;
  const track = film.tracks[row];
  return track === undefined ? null : { cycle: Math.max(film.first, Math.min(film.last, cycle)), track };
};
