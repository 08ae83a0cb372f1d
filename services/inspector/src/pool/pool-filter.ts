import type { AnswerOf, Endpoints } from '@stemma/api';

export type PoolRow = AnswerOf<Endpoints['poolRows']>['rows'][number];

export const COLOURS = ['round', 'cluster', 'source', 'sampled'] as const;
export type ColouredBy = (typeof COLOURS)[number];
export const ORDERS = ['oldest', 'newest', 'sampled', 'similar'] as const;
export type OrderedBy = (typeof ORDERS)[number];

/** A point of the map. */
export type MapCorner = readonly [x: number, y: number];

/** Which messages of a pool are listed, in which order, and how the map colours them: what the address says after `filter=`. */
export type PoolFilter = {
  readonly words: string | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly cluster: number | null;
  readonly source: string | null;
  /** The id of a message, and how similar the others have to be to it. */
  readonly near: string | null;
  readonly least: number;
  /** The corners of what is circled on the map. */
  readonly lasso: readonly MapCorner[] | null;
  readonly colour: ColouredBy;
  readonly order: OrderedBy;
  /** The seed of the map. */
  readonly seed: number;
};

const LEAST = 0.2;
const MOST_CORNERS = 80;

/** `from:1 to:9 source:seed`: a key and a value in each word, the value percent-encoded. */
export const parseFilter = (text: string | null): PoolFilter => {
  const given = new Map<string, string>();
  for (const word of (text ?? '').split(' ')) {
    const colon = word.indexOf(':');
    if (colon > 0) given.set(word.slice(0, colon), decoded(word.slice(colon + 1)));
  }
  const whole = (key: string): number | null => {
    const value = given.get(key);
    return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : null;
  };
  const least = Number(given.get('least') ?? LEAST);
  const near = given.get('near') ?? null;
  const order = ORDERS.find((one) => one === given.get('order')) ?? (near === null ? 'oldest' : 'similar');
  return {
    words: given.get('words') ?? null,
    from: whole('from'),
    to: whole('to'),
    cluster: whole('cluster'),
    source: given.get('source') ?? null,
    near,
    least: least >= -1 && least <= 1 ? least : LEAST,
    lasso: parseLasso(given.get('lasso')),
    colour: COLOURS.find((one) => one === given.get('colour')) ?? 'round',
    order: order === 'similar' && near === null ? 'oldest' : order,
    seed: whole('seed') ?? 0,
  };
};

export const printFilter = (filter: PoolFilter): string | null => {
  const { words, from, to, cluster, source, near, least, lasso, colour, order, seed } = filter;
  const usual = near === null ? 'oldest' : 'similar';
  const given = Object.entries({
    ...{ words, from, to, cluster, source, near },
    least: near === null || least === LEAST ? null : least,
    lasso: lasso === null ? null : lasso.map(([x, y]) => `${x},${y}`).join(';'),
    colour: colour === 'round' ? null : colour,
    order: order === usual ? null : order,
    seed: seed === 0 ? null : seed,
  }).filter(([, value]) => value !== null && value !== '');
  if (given.length === 0) return null;
  return given.map(([key, value]) => `${key}:${encoded(String(value))}`).join(' ');
};

/** Corners that the address can say: few, and with few digits. */
export const lassoOf = (corners: readonly MapCorner[]): readonly MapCorner[] | null => {
  if (corners.length < 3) return null;
  const step = Math.max(1, corners.length / MOST_CORNERS);
  const few = Array.from(
    { length: Math.floor(corners.length / step) },
    (_, i) => corners[Math.floor(i * step)],
  );
  return few.flatMap((corner): MapCorner[] =>
    corner === undefined ? [] : [[short(corner[0]), short(corner[1])]],
  );
};

const short = (value: number): number => Math.round(value * 100) / 100;

const parseLasso = (text: string | undefined): readonly MapCorner[] | null => {
  const corners = (text ?? '').split(';').flatMap((pair): MapCorner[] => {
    const [x = NaN, y = NaN] = pair.split(',').map(Number);
    return Number.isFinite(x) && Number.isFinite(y) ? [[x, y]] : [];
  });
  return corners.length < 3 ? null : corners.slice(0, 2 * MOST_CORNERS);
};

const encoded = (value: string): string => value.replace(/[%\s]/g, (found) => encodeURIComponent(found));
const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

/** Whether a polygon holds a point: a line from it to the right crosses an odd number of its sides. */
const isInside = (corners: readonly MapCorner[], [x, y]: MapCorner): boolean => {
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const [xi, yi] = corners[i] ?? [0, 0];
    const [xj, yj] = corners[j] ?? [0, 0];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
};

export type Known = {
  /** The attractor in which a message was last. */
  readonly clusters: ReadonlyMap<string, number>;
  readonly similarity: ReadonlyMap<string, number>;
  readonly points: ReadonlyMap<string, MapCorner>;
};

/** The messages that a filter lets through, in its order. */
export const filterRows = (
  rows: readonly PoolRow[],
  filter: PoolFilter,
  known: Known,
): readonly PoolRow[] => {
  const { from, to, cluster, source, near, least, lasso, order } = filter;
  const words = (filter.words ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const isIn = (row: PoolRow): boolean => {
    if (from !== null && (row.round === null || row.round < from)) return false;
    if (to !== null && (row.round === null || row.round > to)) return false;
    if (cluster !== null && known.clusters.get(row.id) !== cluster) return false;
    if (source !== null && row.source !== source) return false;
    if (near !== null && row.id !== near && (known.similarity.get(row.id) ?? -2) < least) return false;
    if (words.length > 0) {
      const said = row.excerpt.toLowerCase();
      if (!words.every((word) => said.includes(word))) return false;
    }
    if (lasso === null) return true;
    const point = known.points.get(row.id);
    return point !== undefined && isInside(lasso, point);
  };
  const found = rows.filter(isIn);
  const likeness = ({ id }: PoolRow): number => (id === near ? 2 : (known.similarity.get(id) ?? -2));
  if (order === 'newest') found.reverse();
  // Sorting is stable: equal ones stay in the order in which they came.
  if (order === 'sampled') found.sort((a, b) => b.sampled - a.sampled);
  if (order === 'similar') found.sort((a, b) => likeness(b) - likeness(a));
  return found;
};

/** The same order in every language of the reader. */
export const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
