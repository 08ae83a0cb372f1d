import { seededRandom, vectorsFrom, type HdbscanOptions, type Vectors } from '../../src/index.ts';

/** A data set by name, what it is clustered with, and its rows. */
export type DataSet = {
  readonly name: string;
  readonly options: HdbscanOptions & { readonly minClusterSize: number };
  readonly vectors: Vectors;
};

type Draw = {
  readonly unit: () => number;
  /** Normally distributed, by Box and Muller. */
  readonly normal: () => number;
};

const drawFrom = (seed: number): Draw => {
  const { unit } = seededRandom(seed);
  return {
    unit,
    normal: () => Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit()),
  };
};

type Row = readonly number[];

const times = (count: number, row: (i: number) => Row): Row[] =>
  Array.from({ length: count }, (_, i) => row(i));

const blob = ({ normal }: Draw, count: number, centre: Row, spread: number): Row[] =>
  times(count, () => centre.map((at) => at + spread * normal()));

const noise = ({ unit }: Draw, count: number, dimension: number, size: number): Row[] =>
  times(count, () => Array.from({ length: dimension }, () => (unit() - 0.5) * size));

const ring = ({ unit, normal }: Draw, count: number, radius: number, spread: number): Row[] =>
  times(count, () => {
    const angle = 2 * Math.PI * unit();
    const at = radius + spread * normal();
    return [at * Math.cos(angle), at * Math.sin(angle)];
  });

const moon = ({ unit, normal }: Draw, count: number, isUpper: boolean, spread: number): Row[] =>
  times(count, () => {
    const angle = Math.PI * unit();
    const [x, y] = isUpper
      ? [Math.cos(angle), Math.sin(angle)]
      : [1 - Math.cos(angle), 0.5 - Math.sin(angle)];
    return [x + spread * normal(), y + spread * normal()];
  });

const spiral = ({ unit, normal }: Draw, count: number, turn: number): Row[] =>
  times(count, () => {
    const angle = 1 + 8 * Math.sqrt(unit());
    return [angle * Math.cos(angle + turn) + 0.1 * normal(), angle * Math.sin(angle + turn) + 0.1 * normal()];
  });

const grid = (size: number, [x = 0, y = 0]: Row): Row[] =>
  times(size * size, (i) => [x + (i % size), y + Math.floor(i / size)]);

const direction = ({ normal }: Draw, dimension: number): Row =>
  unitRow(Array.from({ length: dimension }, normal));

const unitRow = (row: Row): Row => {
  const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
  return row.map((value) => value / length);
};

/** Unit vectors around a few directions, as texts on a few subjects give them. */
const subjects = (draw: Draw, dimension: number, sizes: readonly number[], spread: number): Row[] =>
  sizes.flatMap((size) => {
    const subject = direction(draw, dimension);
    return times(size, () =>
      unitRow(subject.map((value) => value + (spread * draw.normal()) / Math.sqrt(dimension))),
    );
  });

/** Each row several times. */
const repeated = (rows: readonly Row[], count: number): Row[] =>
  rows.flatMap((row) => times(count, () => row));

/**
 * Seeds with which the labels do not depend on what joins first of equal heights: scikit-learn leaves that to the processor, and its
 * script refuses what depends on it.
 */
const SHAPES: readonly (readonly [
  name: string,
  seed: number,
  options: DataSet['options'],
  rows: (draw: Draw) => readonly Row[],
])[] = [
  [
    'three blobs',
    3,
    { minClusterSize: 5 },
    (draw) =>
      [
        [0, 0],
        [6, 0],
        [0, 6],
      ].flatMap((centre) => blob(draw, 100, centre, 0.8)),
  ],
  [
    'blobs in noise',
    19,
    { minClusterSize: 10 },
    (draw) => [...blob(draw, 120, [-4, 0], 0.5), ...blob(draw, 80, [4, 1], 0.7), ...noise(draw, 100, 2, 16)],
  ],
  [
    'two moons',
    3,
    { minClusterSize: 5 },
    (draw) => [...moon(draw, 200, true, 0.06), ...moon(draw, 200, false, 0.06)],
  ],
  [
    'rings in each other',
    1,
    { minClusterSize: 15 },
    (draw) => [...ring(draw, 100, 1, 0.05), ...ring(draw, 250, 2.5, 0.05), ...ring(draw, 400, 4, 0.05)],
  ],
  [
    'two spirals',
    3,
    { minClusterSize: 8 },
    (draw) => [...spiral(draw, 250, 0), ...spiral(draw, 250, Math.PI)],
  ],
  [
    'blobs of different density',
    4,
    { minClusterSize: 8 },
    (draw) => [
      ...blob(draw, 150, [0, 0], 0.1),
      ...blob(draw, 150, [3, 0], 0.5),
      ...blob(draw, 150, [0, 12], 2),
    ],
  ],
  [
    'a dense core in a sparse one',
    1,
    { minClusterSize: 25 },
    (draw) => [
      ...blob(draw, 80, [0, 0], 0.05),
      ...blob(draw, 200, [0, 0], 2),
      ...blob(draw, 60, [9, 9], 0.3),
    ],
  ],
  [
    'blobs drawn out',
    17,
    { minClusterSize: 6 },
    (draw) =>
      [0, 4, 8].flatMap((y) => blob(draw, 90, [0, 0], 1).map(([a = 0, b = 0]) => [5 * a + b, y + 0.3 * b])),
  ],
  [
    'blobs with a bridge',
    29,
    { minClusterSize: 10 },
    (draw) => [
      ...blob(draw, 100, [0, 0], 0.4),
      ...blob(draw, 100, [6, 0], 0.4),
      ...times(20, (i) => [0.8 + i * 0.23, 0.05 * draw.normal()]),
    ],
  ],
  [
    'rows that occur several times',
    10,
    { minClusterSize: 4 },
    (draw) => repeated([...blob(draw, 30, [0, 0], 1), ...blob(draw, 30, [9, 9], 1)], 5),
  ],
  [
    'few different rows',
    11,
    { minClusterSize: 3 },
    () =>
      repeated(
        [
          [0, 0],
          [1, 0],
          [5, 5],
          [5, 6],
          [20, 0],
        ],
        6,
      ),
  ],
  [
    'grids, where all distances are alike',
    12,
    { minClusterSize: 5 },
    () =>
      [
        [0, 0],
        [30, 0],
        [0, 30],
      ].flatMap((corner) => grid(7, corner)),
  ],
  ['nothing but noise', 3, { minClusterSize: 15 }, (draw) => noise(draw, 150, 2, 10)],
  [
    'min_samples 1',
    4,
    { minClusterSize: 8, minSamples: 1 },
    (draw) => [...moon(draw, 120, true, 0.04), ...moon(draw, 120, false, 0.04)],
  ],
  [
    'min_samples above the size',
    4,
    { minClusterSize: 4, minSamples: 12 },
    (draw) => [...blob(draw, 70, [0, 0, 0], 1), ...blob(draw, 70, [5, 5, 5], 1), ...noise(draw, 30, 3, 14)],
  ],
  [
    'a single cluster, allowed',
    16,
    { minClusterSize: 10, allowSingleCluster: true },
    (draw) => [...blob(draw, 200, [1, 2], 1), ...noise(draw, 15, 2, 14)],
  ],
  [
    'far from the origin',
    17,
    { minClusterSize: 5 },
    (draw) => [
      ...blob(draw, 60, [1_000_000, -2_000_000], 0.2),
      ...blob(draw, 60, [1_000_002, -2_000_001], 0.2),
    ],
  ],
  [
    'eight dimensions',
    3,
    { minClusterSize: 10, minSamples: 5 },
    (draw) => [
      ...times(6, () => direction(draw, 8)).flatMap((centre, i) => blob(draw, 150, centre, 0.08 + 0.01 * i)),
      ...noise(draw, 100, 8, 2),
    ],
  ],
  ['64 dimensions', 19, { minClusterSize: 5 }, (draw) => subjects(draw, 64, [60, 40, 80, 20], 0.7)],
  ['1,536 dimensions', 20, { minClusterSize: 3 }, (draw) => subjects(draw, 1536, [40, 25, 10, 60, 5], 0.8)],
  [
    '1,536 dimensions with repeated rows and noise',
    21,
    { minClusterSize: 3 },
    (draw) => [
      ...repeated(subjects(draw, 1536, [8, 8, 8], 0.6), 3),
      ...subjects(draw, 1536, [30], 0.9),
      ...times(30, () => direction(draw, 1536)),
    ],
  ],
  ['as many rows as the smallest cluster has', 22, { minClusterSize: 6 }, (draw) => blob(draw, 6, [0, 0], 1)],
];

/** The data sets, made anew: the same numbers on every machine, as they are whole multiples of 2^-20. */
export const dataSets = (): readonly DataSet[] =>
  SHAPES.map(([name, seed, options, rows]) => ({
    name,
    options,
    vectors: vectorsFrom(
      rows(drawFrom(seed)).map((row) => row.map((value) => Math.round(value * 2 ** 20) / 2 ** 20)),
    ),
  }));
