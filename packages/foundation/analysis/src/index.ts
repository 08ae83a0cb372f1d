export {
  checkedVectors,
  joinVectors,
  lengthOf,
  rowOf,
  selectRows,
  unitVectors,
  vectorsFrom,
  type Vectors,
} from './vectors.ts';
export { seededRandom, shuffle, type Random } from './random.ts';
export { hdbscan, NOISE, type Clustering, type HdbscanOptions } from './hdbscan/hdbscan.ts';
export { describeClusters, type Cluster } from './clusters/describe-clusters.ts';
export { followClusters, type KnownClusters } from './clusters/follow-clusters.ts';
export {
  centroidOf,
  cosineDistance,
  diversity,
  meanSimilarity,
  roundMetrics,
  type RoundMetrics,
} from './diversity.ts';
export { cosineIndex, nearestOf, nearestRows, type CosineIndex, type Found } from './nearest.ts';
export { embedText, embedTexts, EMBEDDER, EMBEDDING_DIMENSION } from './embed-text.ts';
export { termsOf, vocabularyOf, type Vocabulary } from './terms/terms.ts';
export {
  attractorOverlap,
  jensenShannon,
  vocabularyPersistence,
  type TermCounts,
} from './terms/term-distances.ts';
export {
  compareSamples,
  type ComparisonOptions,
  type Sample,
  type SampleComparison,
  type Tested,
} from './samples/compare-samples.ts';
export {
  permutationTests,
  type PermutationOptions,
  type PermutationTest,
} from './samples/permutation-test.ts';
export { benjaminiHochberg, holm } from './statistics/corrections.ts';
export {
  bootstrapInterval,
  cliffsDelta,
  cohensD,
  quantile,
  type BootstrapOptions,
  type Interval,
} from './statistics/effect-size.ts';
export { fisherExact, triesNeeded, wilsonInterval, type Passed } from './statistics/proportions.ts';
export { noiseFloor, pAgainstFloor, type NoiseFloor } from './statistics/noise-floor.ts';
export { poolRun, type RecordedRound, type ShownMessage } from './verdict/pool-steps.ts';
export { takenUp } from './verdict/taken-up.ts';
export type { RecordedRun, RunStep, RunText, UnitKind } from './verdict/runs.ts';
export {
  compareRuns,
  SIZES,
  type MeasuredDifference,
  type RunVerdict,
  type VerdictOptions,
  type VerdictPart,
  VERDICTS,
  type VerdictWord,
} from './verdict/verdict.ts';
export { principalComponents } from './principal-components.ts';
export { mapVectors, type MapOptions } from './map-vectors.ts';
export { isNpy, npyBytes, readNpy } from './files/npy.ts';
export { readVectors, type VectorFile } from './files/read-vectors.ts';
export { jsonIn, jsonLinesIn, vectorText } from './files/vector-text.ts';
