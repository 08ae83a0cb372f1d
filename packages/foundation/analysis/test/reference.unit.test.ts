import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  benjaminiHochberg,
  cliffsDelta,
  cohensD,
  compareSamples,
  diversity,
  holm,
  jensenShannon,
  quantile,
  vectorsFrom,
  type Vectors,
} from '../src/index.ts';

type Values = {
  readonly samples: readonly {
    readonly rows: readonly [number, number];
    readonly dimension: number;
    readonly shift: number;
    readonly energy: number;
    readonly sigma: number;
    readonly mmd2: number;
    readonly diversity: number | null;
    readonly squared_energy_distance_of_scipy?: number;
    readonly exact_p_energy?: number;
  }[];
  readonly p_values: readonly number[];
  readonly benjamini_hochberg: readonly number[];
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly cohens_d: number;
  readonly cliffs_delta: number;
  readonly quantiles: readonly number[];
  readonly counts: readonly [readonly number[], readonly number[]];
  readonly jensen_shannon: number;
};

const known = JSON.parse(readFileSync(join(import.meta.dirname, 'reference/values.json'), 'utf8')) as Values;

/** As the script that makes values.json. */
const rows = (count: number, dimension: number, step: number, shift: number): Vectors =>
  vectorsFrom(
    Array.from({ length: count }, (_, i) =>
      Array.from({ length: dimension }, (__, k) => Math.sin(i * step + k * k) + shift * (k % 3)),
    ),
  );

test.each(known.samples.map((sample) => [sample.rows.join(' and '), sample.dimension, sample] as const))(
  'energy, sigma and MMD² of %s rows of %i numbers are those of numpy',
  { tags: ['pool§7.6', 'pool§7.7'] },
  (_rows, dimension, sample) => {
    const a = rows(sample.rows[0], dimension, 0.7, 0);
    const b = rows(sample.rows[1], dimension, 1.1, sample.shift);
    const found = compareSamples({ vectors: a }, { vectors: b }, { permutations: 1, resamples: 0 });
    expect(found.energy).toBeCloseTo(sample.energy, 12);
    expect(found.sigma).toBeCloseTo(sample.sigma, 12);
    expect(found.mmd2).toBeCloseTo(sample.mmd2, 12);
    expect(found.energy).toBeCloseTo(sample.squared_energy_distance_of_scipy ?? sample.energy, 12);
    if (sample.diversity !== null) expect(diversity(a)).toBeCloseTo(sample.diversity, 12);
  },
);

test.each(known.samples.filter(({ exact_p_energy }) => exact_p_energy !== undefined))(
  'the p value of $rows rows is near that of all divisions',
  { tags: ['pool§7.8'] },
  ({ rows: [m, n], dimension, shift, exact_p_energy = 0 }) => {
    const found = compareSamples(
      { vectors: rows(m, dimension, 0.7, 0) },
      { vectors: rows(n, dimension, 1.1, shift) },
      { permutations: 4000, resamples: 0 },
    );
    expect(Math.abs((found.tests.energy?.p ?? 1) - exact_p_energy)).toBeLessThan(0.03);
  },
);

test(
  'the adjusted p values of Benjamini and Hochberg are those of scipy, those of Holm as computed by hand',
  { tags: ['pool§7.15'] },
  () => {
    expect(benjaminiHochberg(known.p_values)).toEqual(
      known.benjamini_hochberg.map((p) => expect.closeTo(p, 12) as number),
    );
    expect(holm([0.01, 0.04, 0.03, 0.005])).toEqual(
      [0.03, 0.06, 0.06, 0.02].map((p) => expect.closeTo(p, 12)),
    );
    expect(holm([])).toEqual([]);
  },
);

test(
  "Cohen's d, Cliff's delta, quantiles and the Jensen-Shannon distance are those of numpy and scipy",
  { tags: ['pool§7.12', 'pool§7.16'] },
  () => {
    expect(cohensD(known.x, known.y)).toBeCloseTo(known.cohens_d, 12);
    expect(cliffsDelta(known.x, known.y)).toBeCloseTo(known.cliffs_delta, 12);
    const quantiles = [0.025, 0.3, 0.5, 0.975].map((p) => quantile(known.x, p));
    expect(quantiles).toEqual(known.quantiles.map((value) => expect.closeTo(value, 12) as number));
    const [a, b] = known.counts.map((counts) => Float64Array.from(counts));
    expect(jensenShannon(a ?? new Float64Array(), b ?? new Float64Array())).toBeCloseTo(
      known.jensen_shannon,
      12,
    );
  },
);
