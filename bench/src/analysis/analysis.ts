import { npyBytes, seededRandom, unitVectors, type Vectors } from '@stemma/analysis';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../measure.ts';
import { probe } from '../probe.ts';
import { figure, times, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import type { ClusterInput } from './cluster.ts';
import type { Compared, CompareInput } from './compare.ts';
import {
  clusterWithScikitLearn,
  installScikitLearn,
  SCIKIT_LEARN,
  type Clustered,
  type ScikitLearnInput,
} from './scikit-learn.ts';
import type { Searched, SearchInput } from './search.ts';

const DIMENSION = 1536;
/** As a table shows it. */
const WIDE = '1,536';
const SUBJECTS = 20;
const MIN_CLUSTER_SIZE = 5;

/** Unit vectors around a few directions, as embeddings of texts on a few subjects lie. */
const vectorsOf = (rows: number): Vectors => {
  const { unit, below } = seededRandom(1);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());
  const subjects = Float64Array.from({ length: SUBJECTS * DIMENSION }, normal);
  const values = new Float64Array(rows * DIMENSION);
  for (let i = 0; i < rows; i += 1) {
    const subject = below(SUBJECTS) * DIMENSION;
    for (let k = 0; k < DIMENSION; k += 1)
      values[i * DIMENSION + k] = subjects[subject + k]! + 0.9 * normal();
  }
  return unitVectors({ rows, dimension: DIMENSION, values });
};

/** Labels, numbered as they first appear. */
const inOrder = (labels: readonly number[]): string => {
  const numbers = new Map([[-1, -1]]);
  return labels
    .map((label) => {
      if (!numbers.has(label)) numbers.set(label, numbers.size - 1);
      return numbers.get(label);
    })
    .join();
};

type Row = { readonly name: string; readonly ms: number; readonly cpu: number };

const PEERS: readonly (readonly [name: string, options: Pick<ScikitLearnInput, 'algorithm' | 'threads'>])[] =
  [
    ['scikit-learn, brute force, all processors', { algorithm: 'brute', threads: 'all' }],
    ['scikit-learn, brute force, one thread', { algorithm: 'brute', threads: 1 }],
    ['scikit-learn as it is by default (k-d tree)', { algorithm: 'auto', threads: 'all' }],
  ];

const clusterRows = async (
  file: string,
  rounds: number,
  missing: string | undefined,
): Promise<readonly Row[]> => {
  const series = new Map<string, Clustered[]>();
  const add = (name: string, found: Clustered): void =>
    void series.set(name, [...(series.get(name) ?? []), found]);
  for (let round = 0; round < rounds; round += 1) {
    const input: ClusterInput = { file, minClusterSize: MIN_CLUSTER_SIZE };
    add('Stemma', (await probe<Clustered>('analysis/cluster', input)).value);
    if (missing !== undefined) continue;
    for (const [name, options] of PEERS) {
      // The default takes a minute and more.
      if (options.algorithm === 'auto' && round > 0) continue;
      add(name, clusterWithScikitLearn({ ...input, ...options }));
    }
  }
  const labels = new Set([...series.values()].flat().map((found) => inOrder(found.labels)));
  if (labels.size !== 1) throw new Error(`there are ${labels.size} different labellings of the same vectors`);
  return [...series].map(([name, found]) => ({
    name,
    ms: median(found.map(({ ms }) => ms)),
    cpu: median(found.map(({ cpu }) => cpu)),
  }));
};

/** Clusters of vectors as scikit-learn finds them, and a search as a bare loop does it. */
export const analysis = async (options: BenchmarkOptions): Promise<Report> => {
  const { directory, quick, rounds } = options;
  mkdirSync(directory, { recursive: true });
  const [rows, searched] = quick ? [600, 1000] : [5000, 10_000];
  const file = join(directory, 'vectors.npy');
  writeFileSync(file, npyBytes(vectorsOf(rows)));
  const missing = installScikitLearn();
  const clustered = await clusterRows(file, rounds, missing);
  const search = (
    await probe<Searched>('analysis/search', {
      ...{ rows: searched, dimension: DIMENSION, repetitions: 31 },
    } satisfies SearchInput)
  ).value;
  const half = quick ? 100 : 500;
  const { value: compared } = await probe<Compared>('analysis/compare', {
    ...{ file, rows: half },
  } satisfies CompareInput);
  const own = clustered[0]?.ms ?? Number.NaN;
  const brute = clustered[1]?.ms ?? Number.NaN;
  const ofProcessors = (clustered[0]?.cpu ?? Number.NaN) / (clustered[1]?.cpu ?? Number.NaN);
  const aims: readonly Aim[] = [
    ...(missing === undefined
      ? [
          {
            what: `HDBSCAN of ${figure(rows)} × ${WIDE} against scikit-learn's brute force`,
            aim: '≤ 2.5 ×',
            measured: times(own / brute),
            met: own / brute <= 2.5,
          },
          {
            what: 'the same in time of processors',
            aim: '≤ 2.5 ×',
            measured: times(ofProcessors),
            met: ofProcessors <= 2.5,
          },
        ]
      : []),
    {
      what: `top-k of ${figure(searched)} × ${WIDE} against a bare loop with four sums`,
      aim: '≤ 1.5 ×',
      measured: times(search.search / search.fourSums),
      met: search.search / search.fourSums <= 1.5,
    },
  ];
  return {
    name: 'analysis',
    tables: [
      {
        title: `HDBSCAN: ${figure(rows)} vectors of ${WIDE} numbers`,
        columns: ['', 'ms', 'ms of processors', 'Stemma takes'],
        rows: clustered.map(({ name, ms, cpu }) => [name, figure(ms), figure(cpu), times(own / ms)]),
        notes: [
          missing ??
            `scikit-learn ${SCIKIT_LEARN}; its labels are the same. The time of its default is from one round.`,
          `${SUBJECTS} clusters, min_cluster_size ${MIN_CLUSTER_SIZE}; ${rounds} rounds, one after another in each, every one in a process of its own; medians.`,
        ],
      },
      {
        title: 'Search, comparison, map',
        columns: ['', 'ms'],
        rows: [
          [`the 10 nearest of ${figure(searched)} × ${WIDE}, cosine, exact`, figure(search.search)],
          ['a bare loop over the same numbers, four sums', figure(search.fourSums)],
          ['the same, one sum', figure(search.oneSum)],
          [
            `comparison of ${figure(half)} with ${figure(half)} vectors, 1,999 permutations`,
            figure(compared.compare),
          ],
          [`map of ${figure(2 * half)} vectors`, figure(compared.map)],
        ],
        notes: [
          'Search and loops: means of 31 rounds, in turn in one process, of the time of the processor.',
        ],
      },
    ],
    aims,
    figures: { clustered, search, compared },
  };
};
