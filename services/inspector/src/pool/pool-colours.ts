import { scaleLinear } from 'd3-scale';
import { byCodeUnits, type ColouredBy, type PoolRow } from './pool-filter.ts';

/** A colour as three numbers from 0 to 1, as WebGL takes them. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** From few to many, told apart by lightness too: for who sees no red and green, and on paper. */
const SCALE: readonly Rgb[] = [
  [0.27, 0.2, 0.55],
  [0.13, 0.48, 0.6],
  [0.2, 0.66, 0.42],
  [0.95, 0.7, 0.13],
];
/** Kinds that have no order (Okabe and Ito, "Color Universal Design"). */
const KINDS: readonly Rgb[] = [
  [0, 0.45, 0.7],
  [0.9, 0.6, 0],
  [0, 0.62, 0.45],
  [0.8, 0.47, 0.65],
  [0.84, 0.37, 0],
  [0.34, 0.71, 0.91],
  [0.6, 0.55, 0.1],
  [0.5, 0.35, 0.75],
];
const NONE: Rgb = [0.55, 0.57, 0.6];

const shades = scaleLinear(
  SCALE.map((_, i) => i / (SCALE.length - 1)),
  SCALE,
).clamp(true);
/** A copy: the scale returns the same array each time. */
const onScale = (share: number): Rgb => {
  const [red, green, blue] = shades(share);
  return [red, green, blue];
};

export const kindColour = (n: number): Rgb => KINDS[n % KINDS.length] ?? NONE;

export const cssOf = (colour: Rgb): string =>
  `rgb(${colour.map((value) => Math.round(value * 255)).join(' ')})`;

export type Colouring = {
  readonly colourOf: (row: PoolRow) => Rgb;
  /** What each colour means. */
  readonly legend: readonly (readonly [words: string, colour: Rgb])[];
};

const MOST_IN_LEGEND = 10;

export const colouringOf = (
  by: ColouredBy,
  rows: readonly PoolRow[],
  clusters: ReadonlyMap<string, number>,
): Colouring => {
  if (by === 'round' || by === 'sampled') {
    const valueOf = ({ round, sampled }: PoolRow): number => (by === 'round' ? (round ?? 0) : sampled);
    const most = rows.reduce((high, row) => Math.max(high, valueOf(row)), 1);
    const words = (share: number): string =>
      by === 'round' ? `round ${Math.round(share * most)}` : `shown ${Math.round(share * most)}×`;
    const shares = most < 4 ? Array.from({ length: most + 1 }, (_, i) => i / most) : [0, 1 / 3, 2 / 3, 1];
    return {
      colourOf: (row) => onScale(valueOf(row) / most),
      legend: shares.map((share) => [words(share), onScale(share)]),
    };
  }
  if (by === 'cluster') {
    const numbers = [...new Set(clusters.values())].sort((a, b) => a - b);
    return {
      colourOf: ({ id }) => {
        const cluster = clusters.get(id);
        return cluster === undefined ? NONE : kindColour(cluster);
      },
      legend: [
        ...numbers.slice(0, MOST_IN_LEGEND).map((n) => [`attractor ${n}`, kindColour(n)] as const),
        ['in none', NONE],
      ],
    };
  }
  const sources = [...new Set(rows.map(({ source }) => source))].sort(byCodeUnits);
  const places = new Map(sources.map((source, i) => [source, i]));
  return {
    colourOf: ({ source }) => kindColour(places.get(source) ?? 0),
    legend: sources.slice(0, MOST_IN_LEGEND).map((source, i) => [source, kindColour(i)]),
  };
};
