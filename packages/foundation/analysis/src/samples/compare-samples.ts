import { fail } from '@stemma/errors';
import { distanceMatrix } from '../distances/distance-matrix.ts';
import { hdbscan, type HdbscanOptions } from '../hdbscan/hdbscan.ts';
import { seededRandom } from '../random.ts';
import { benjaminiHochberg, holm } from '../statistics/corrections.ts';
import { percentileInterval, type Interval } from '../statistics/effect-size.ts';
import { attractorOverlap, jensenShannon, vocabularyPersistence } from '../terms/term-distances.ts';
import { vocabularyOf } from '../terms/terms.ts';
import { checkedVectors, joinVectors, type Vectors } from '../vectors.ts';
import { gaussianKernel, medianDistance } from './kernel-matrix.ts';
import { permutationTests, type PermutationOptions, type PermutationTest } from './permutation-test.ts';
import { splitter, type SplitSums } from './split-sums.ts';

/** Messages of one side: their vectors and, if they are known, their texts. */
export type Sample = { readonly vectors: Vectors; readonly texts?: readonly string[] | undefined };

export type ComparisonOptions = PermutationOptions & {
  /** How both samples together are clustered, for the overlap of attractors. Default: clusters of 3 rows and more. */
  readonly clusters?: HdbscanOptions;
  /** How often both samples are drawn anew for the interval of the energy coefficient. Default 999; 0 for no interval. */
  readonly resamples?: number;
};

/** The statistics that are tested; each is larger, the more the samples differ. */
export type Tested = 'energy' | 'mmd2' | 'terms' | 'lostVocabulary' | 'lostOverlap';

/** How two samples differ (pool §7.4, §7.6 to §7.8). What is not defined for them is null. */
export type SampleComparison = {
  readonly rows: { readonly a: number; readonly b: number };
  readonly dimension: number;
  readonly energy: number;
  /** Energy distance / 2 mean|x − y|: from 0 for the same distribution to 1 (Székely and Rizzo, 2013), and its interval of 95 %. */
  readonly energyCoefficient: { readonly value: number; readonly interval: Interval | null };
  readonly mmd2: number;
  /** The width of the kernel. */
  readonly sigma: number;
  readonly jensenShannon: number | null;
  readonly vocabularyPersistence: number | null;
  readonly attractors: {
    readonly clusters: number;
    readonly shared: number;
    readonly overlap: number | null;
  };
  readonly tests: Readonly<Record<Tested, PermutationTest | null>>;
  /** The p values of those tests that could be made, adjusted for their number. */
  readonly adjusted: Readonly<
    Partial<Record<Tested, { readonly holm: number; readonly benjaminiHochberg: number }>>
  >;
};

/**
 * Compares two samples. The same samples, options and seed give the same bytes.
 *
 * @throws E_VECTORS if a sample is empty or the dimensions differ, E_INPUT_TOO_LARGE, E_USAGE for options that cannot be
 */
export const compareSamples = (a: Sample, b: Sample, options: ComparisonOptions = {}): SampleComparison => {
  const { clusters = {}, resamples = 999, seed = 0 } = options;
  if (!Number.isSafeInteger(resamples) || resamples < 0)
    throw fail('E_USAGE', `the number of resamples must be a whole number from 0, not ${resamples}`);
  const pooled = joinVectors(checkedVectors(a.vectors), checkedVectors(b.vectors));
  const [m, n] = [a.vectors.rows, b.vectors.rows];
  const distances = distanceMatrix(pooled);
  const sigma = medianDistance(distances);
  const [distanceSums, kernelSums] = [splitter(distances), splitter(gaussianKernel(distances, sigma))];
  const labels = hdbscan(pooled, clusters).labels;
  const clusterRows = countsBy(
    Array.from(labels, (label) => (label < 0 ? [] : [[label, 1] as const])),
    labels.reduce((most, label) => Math.max(most, label + 1), 0),
  );
  const terms = termCountsOf(a, b);
  const statistics = (inA: Int32Array, inB: Int32Array): Readonly<Record<Tested, number | null>> => {
    const counts = terms === null ? null : { a: terms(inA), b: terms(inB) };
    return {
      energy: energyOf(distanceSums(inA, inB), m, n),
      mmd2: mmdOf(kernelSums(inA, inB), m, n),
      terms: counts === null ? null : jensenShannon(counts.a, counts.b),
      lostVocabulary: counts === null ? null : lost(vocabularyPersistence(counts.a, counts.b)),
      lostOverlap: lost(attractorOverlap(clusterRows(inA), clusterRows(inB))),
    };
  };
  const tests = permutationTests(m, n, statistics, options);
  const [own, other] = [rangeOf(0, m), rangeOf(m, n)];
  const between = distanceSums(own, other).ab / (m * n);
  const energy = tests.energy?.observed ?? 0;
  const [inA, inB] = [clusterRows(own), clusterRows(other)];
  return {
    rows: { a: m, b: n },
    dimension: pooled.dimension,
    energy,
    energyCoefficient: {
      value: between === 0 ? 0 : energy / (2 * between),
      interval:
        resamples === 0 || m < 2 || n < 2 ? null : coefficientInterval(distances, m, n, resamples, seed),
    },
    mmd2: tests.mmd2?.observed ?? 0,
    sigma,
    jensenShannon: tests.terms?.observed ?? null,
    vocabularyPersistence: lost(tests.lostVocabulary?.observed ?? null),
    attractors: {
      clusters: inA.length,
      shared: inA.filter((count, cluster) => count > 0 && inB[cluster]! > 0).length,
      overlap: lost(tests.lostOverlap?.observed ?? null),
    },
    tests,
    adjusted: adjust(tests),
  };
};

const lost = (share: number | null): number | null => (share === null ? null : 1 - share);

const rangeOf = (from: number, count: number): Int32Array =>
  Int32Array.from({ length: count }, (_, i) => from + i);

/** 2 mean|x − y| − mean|x − x′| − mean|y − y′|, over all ordered pairs (Székely and Rizzo, "Energy statistics", 2013). */
const energyOf = ({ aa, bb, ab }: SplitSums, m: number, n: number): number =>
  (2 * ab) / (m * n) - aa / (m * m) - bb / (n * n);

/** The biased square of the maximum mean discrepancy (Gretton et al., "A kernel two-sample test", JMLR 13, 2012). */
const mmdOf = ({ aa, bb, ab }: SplitSums, m: number, n: number): number =>
  aa / (m * m) + bb / (n * n) - (2 * ab) / (m * n);

/** Sums the counts of rows up, by what is counted. */
const countsBy =
  (rows: readonly (readonly (readonly [item: number, count: number])[])[], size: number) =>
  (side: Int32Array): Float64Array => {
    const counts = new Float64Array(size);
    for (const row of side) for (const [item, count] of rows[row] ?? []) counts[item]! += count;
    return counts;
  };

const termCountsOf = (a: Sample, b: Sample): ((side: Int32Array) => Float64Array) | null => {
  if (a.texts === undefined || b.texts === undefined) return null;
  const { terms, texts } = vocabularyOf([...a.texts, ...b.texts]);
  return countsBy(texts, terms.length);
};

const adjust = (tests: Readonly<Record<Tested, PermutationTest | null>>): SampleComparison['adjusted'] => {
  const made = (Object.keys(tests) as Tested[]).filter((name) => tests[name] !== null);
  const values = made.map((name) => tests[name]?.p ?? 1);
  const [byHolm, byRate] = [holm(values), benjaminiHochberg(values)];
  return Object.fromEntries(
    made.map((name, i) => [name, { holm: byHolm[i]!, benjaminiHochberg: byRate[i]! }]),
  );
};

/**
 * The interval of the energy coefficient over samples drawn with replacement. A row that is drawn twice is at distance 0 from itself,
 * which makes distances within a sample too small by the part 1 / rows; that is put right.
 */
const coefficientInterval = (
  { rows, values }: { readonly rows: number; readonly values: Float64Array },
  m: number,
  n: number,
  resamples: number,
  seed: number,
): Interval => {
  const random = seededRandom(seed);
  const found: number[] = [];
  const counts = new Int32Array(rows);
  for (let i = 0; i < resamples; i++) {
    counts.fill(0);
    for (let k = 0; k < m; k++) counts[random.below(m)]!++;
    for (let k = 0; k < n; k++) counts[m + random.below(n)]!++;
    const drawn = Int32Array.from(counts.keys()).filter((row) => counts[row]! > 0);
    let [aa, ab, bb] = [0, 0, 0];
    for (let p = 0; p < drawn.length; p++) {
      const one = drawn[p]!;
      let [near, far] = [0, 0];
      for (let q = p + 1; q < drawn.length; q++) {
        const other = drawn[q]!;
        const weighted = counts[other]! * values[one * rows + other]!;
        if (one < m === other < m) near += weighted;
        else far += weighted;
      }
      if (one < m) aa += counts[one]! * near;
      else bb += counts[one]! * near;
      ab += counts[one]! * far;
    }
    const between = ab / (m * n);
    const within = (2 * aa) / (m * (m - 1)) + (2 * bb) / (n * (n - 1));
    found.push(between === 0 ? 0 : (2 * between - within) / (2 * between));
  }
  return percentileInterval(found, 0.95);
};
