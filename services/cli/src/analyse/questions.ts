import type { mapVectors, RecordedRun, RunVerdict, VerdictOptions } from '@stemma/analysis';
import type { ErrorCode, ErrorDetail } from '@stemma/errors';

/** A file that was read, with the name that errors give it. */
export type FileBytes = { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> };

export type ClusterQuestion = {
  readonly kind: 'cluster';
  readonly file: FileBytes;
  readonly unit: boolean;
  readonly minClusterSize: number;
  readonly minSamples: number | undefined;
  readonly allowSingleCluster: boolean;
};

export type CompareQuestion = {
  readonly kind: 'compare';
  readonly a: FileBytes;
  readonly b: FileBytes;
  /** Repeated runs of one branch. */
  readonly runs: readonly FileBytes[];
  readonly unit: boolean;
  readonly seed: number;
  readonly permutations: number;
  readonly minClusterSize: number;
};

export type MapQuestion = {
  readonly kind: 'map';
  readonly file: FileBytes;
  readonly unit: boolean;
  readonly seed: number;
  readonly neighbours: number;
};

export type VerdictQuestion = {
  readonly kind: 'verdict';
  readonly a: readonly RecordedRun[];
  readonly b: readonly RecordedRun[];
  readonly options: VerdictOptions;
};

/** Where vectors lie on a map. */
export type LayoutQuestion = {
  readonly kind: 'layout';
  readonly vectors: readonly Float32Array[];
  readonly seed: number;
};

export type AnalysisQuestion =
  ClusterQuestion | CompareQuestion | MapQuestion | VerdictQuestion | LayoutQuestion;

/** What `stemma analyse cluster --json` prints. Rows count from 0. */
export type ClusterAnswer = {
  readonly rows: number;
  readonly dimension: number;
  /** The embedder that made the vectors of the texts; null if the file has vectors. */
  readonly embedder: string | null;
  readonly min_cluster_size: number;
  readonly min_samples: number;
  /** Mean cosine distance of all pairs; null for one row. */
  readonly diversity: number | null;
  readonly labels: readonly number[];
  /** How many rows are in no cluster. */
  readonly noise: number;
  readonly clusters: readonly {
    readonly label: number;
    readonly size: number;
    readonly coherence: number;
    readonly representative: number;
    readonly text: string | null;
    readonly rounds: { readonly first: number; readonly last: number; readonly count: number } | null;
    readonly centroid: readonly number[];
  }[];
};

/** What `stemma analyse compare --json` prints. What is not defined for the samples is null. */
export type CompareAnswer = {
  readonly a: { readonly rows: number };
  readonly b: { readonly rows: number };
  readonly dimension: number;
  readonly embedder: string | null;
  readonly seed: number;
  readonly permutations: number;
  readonly energy: number;
  readonly p_energy: number | null;
  readonly z_energy: number | null;
  readonly energy_coefficient: number;
  readonly energy_coefficient_interval: readonly [low: number, high: number] | null;
  readonly mmd2: number;
  readonly p_mmd: number | null;
  readonly z_mmd: number | null;
  readonly sigma: number;
  readonly jensen_shannon: number | null;
  readonly p_jensen_shannon: number | null;
  readonly vocabulary_persistence: number | null;
  readonly p_vocabulary_persistence: number | null;
  readonly attractors: {
    readonly clusters: number;
    readonly shared: number;
    readonly overlap: number | null;
  };
  readonly p_attractor_overlap: number | null;
  /** The p values adjusted for the number of tests, by the name of the statistic. */
  readonly adjusted: Readonly<
    Record<string, { readonly holm: number; readonly benjamini_hochberg: number } | undefined>
  >;
  readonly noise_floor: {
    readonly runs: number;
    readonly distances: readonly number[];
    readonly median: number;
    readonly p95: number;
    readonly p: number;
  } | null;
};

/** What `stemma analyse map --json` prints. */
export type MapAnswer = {
  readonly rows: number;
  readonly dimension: number;
  readonly embedder: string | null;
  readonly seed: number;
  readonly neighbours: number;
  readonly coordinates: readonly (readonly [x: number, y: number])[];
};

/** What the answer to a question is. */
export type AnswerTo<Question extends AnalysisQuestion> = Question extends ClusterQuestion
  ? ClusterAnswer
  : Question extends CompareQuestion
    ? CompareAnswer
    : Question extends VerdictQuestion
      ? RunVerdict
      : Question extends LayoutQuestion
        ? ReturnType<typeof mapVectors>
        : MapAnswer;

/** What a thread sends: its answer, or the error as data. */
export type FromAnalysis =
  | { readonly answer: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly message: string; readonly detail: ErrorDetail } };
