import {
  compareRuns,
  compareSamples,
  describeClusters,
  diversity,
  EMBEDDER,
  hdbscan,
  mapVectors,
  noiseFloor,
  pAgainstFloor,
  readVectors,
  unitVectors,
  vectorsFrom,
  type SampleComparison,
  type VectorFile,
} from '@stemma/analysis';
import { fail, isStemmaError } from '@stemma/errors';
import { defined } from '@stemma/values';
import type {
  AnalysisQuestion,
  AnswerTo,
  ClusterAnswer,
  ClusterQuestion,
  CompareAnswer,
  CompareQuestion,
  FileBytes,
  MapAnswer,
  MapQuestion,
} from './questions.ts';

/** Answers a question about files. It computes, and takes as long as that takes. @throws E_VECTORS with the file, E_USAGE */
export const answerTo = (question: AnalysisQuestion): AnswerTo<AnalysisQuestion> => {
  switch (question.kind) {
    case 'cluster':
      return clusters(question);
    case 'compare':
      return comparison(question);
    case 'map':
      return map(question);
    case 'layout':
      return mapVectors(unitVectors(vectorsFrom(question.vectors)), { seed: question.seed });
    case 'verdict':
      return compareRuns(question.a, question.b, question.options);
  }
};

const read = ({ name, bytes }: FileBytes, unit: boolean): VectorFile => {
  try {
    const file = readVectors(bytes);
    return unit ? { ...file, vectors: unitVectors(file.vectors) } : file;
  } catch (error) {
    if (!isStemmaError(error, 'E_VECTORS')) throw error;
    throw fail(error.code, `${name}: ${error.message}`, { ...error.detail, file: name });
  }
};

const embedderOf = (...files: readonly VectorFile[]): string | null =>
  files.some(({ isEmbedded }) => isEmbedded) ? EMBEDDER : null;

const clusters = (question: ClusterQuestion): ClusterAnswer => {
  const { minClusterSize, minSamples, allowSingleCluster } = question;
  const file = read(question.file, question.unit);
  const { vectors, texts, rounds } = file;
  const { labels } = hdbscan(vectors, {
    ...{ minClusterSize, allowSingleCluster },
    ...defined({ minSamples }),
  });
  return {
    rows: vectors.rows,
    dimension: vectors.dimension,
    embedder: embedderOf(file),
    min_cluster_size: minClusterSize,
    min_samples: minSamples ?? minClusterSize,
    diversity: diversity(vectors),
    labels: [...labels],
    noise: labels.filter((label) => label < 0).length,
    clusters: describeClusters(vectors, labels, rounds ?? undefined).map((cluster) => ({
      label: cluster.label,
      size: cluster.size,
      coherence: cluster.coherence,
      representative: cluster.representative,
      text: texts?.[cluster.representative] ?? null,
      rounds: cluster.rounds,
      centroid: [...cluster.centroid],
    })),
  };
};

const comparison = (question: CompareQuestion): CompareAnswer => {
  const { seed, permutations, minClusterSize } = question;
  const a = read(question.a, question.unit);
  const b = read(question.b, question.unit);
  const found = compareSamples(sampleOf(a), sampleOf(b), {
    ...{ seed, permutations },
    clusters: { minClusterSize },
  });
  const { energy, mmd2, terms, lostVocabulary, lostOverlap } = found.tests;
  const { interval } = found.energyCoefficient;
  return {
    a: { rows: found.rows.a },
    b: { rows: found.rows.b },
    dimension: found.dimension,
    embedder: embedderOf(a, b),
    seed,
    permutations,
    energy: found.energy,
    p_energy: energy?.p ?? null,
    z_energy: energy?.z ?? null,
    energy_coefficient: found.energyCoefficient.value,
    energy_coefficient_interval: interval === null ? null : [interval.low, interval.high],
    mmd2: found.mmd2,
    p_mmd: mmd2?.p ?? null,
    z_mmd: mmd2?.z ?? null,
    sigma: found.sigma,
    jensen_shannon: found.jensenShannon,
    p_jensen_shannon: terms?.p ?? null,
    vocabulary_persistence: found.vocabularyPersistence,
    p_vocabulary_persistence: lostVocabulary?.p ?? null,
    attractors: found.attractors,
    p_attractor_overlap: lostOverlap?.p ?? null,
    adjusted: adjustedOf(found),
    noise_floor: floorOf(question, found.energy),
  };
};

const sampleOf = ({ vectors, texts }: VectorFile): Parameters<typeof compareSamples>[0] => ({
  vectors,
  texts: texts ?? undefined,
});

const NAMES = {
  energy: 'energy',
  mmd2: 'mmd2',
  terms: 'jensen_shannon',
  lostVocabulary: 'vocabulary_persistence',
  lostOverlap: 'attractor_overlap',
} as const;

const adjustedOf = ({ adjusted }: SampleComparison): CompareAnswer['adjusted'] =>
  Object.fromEntries(
    Object.entries(adjusted).map(([name, { holm, benjaminiHochberg }]) => [
      NAMES[name as keyof typeof NAMES],
      { holm, benjamini_hochberg: benjaminiHochberg },
    ]),
  );

/** How far repeated runs are from each other. */
const floorOf = ({ runs, unit }: CompareQuestion, energy: number): CompareAnswer['noise_floor'] => {
  const samples = runs.map((run) => sampleOf(read(run, unit)));
  const floor = noiseFloor(
    samples,
    (one, other) => compareSamples(one, other, { permutations: 1, resamples: 0 }).energy,
  );
  return floor === null ? null : { runs: runs.length, ...floor, p: pAgainstFloor(floor, energy) };
};

const map = (question: MapQuestion): MapAnswer => {
  const { seed, neighbours } = question;
  const file = read(question.file, question.unit);
  return {
    rows: file.vectors.rows,
    dimension: file.vectors.dimension,
    embedder: embedderOf(file),
    ...{ seed, neighbours },
    coordinates: mapVectors(file.vectors, { seed, neighbours }),
  };
};
