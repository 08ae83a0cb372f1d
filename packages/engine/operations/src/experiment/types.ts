import type { WideJson } from '@stemma/canonical';
import type { Position } from '@stemma/history-store';

export type ExperimentRun = {
  readonly history: string;
  readonly branch: string;
  readonly branchId: number;
  readonly commands: number;
  /** Commands that were there already: all of them when the experiment had been run before. */
  readonly repeated: number;
  /** Snapshots whose hashes came out as recorded. */
  readonly snapshots: number;
  readonly tree: string;
  readonly thread: string;
};

export type ExperimentRunOptions = {
  /** A name for the history; without one its id derives from the file. */
  readonly name?: string | null;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
};

/** An experiment file: its text, or what was read of it and the SHA-256 of its bytes in hexadecimal digits. */
export type ExperimentSource = string | { readonly value: WideJson; readonly sha256: string };

/** Branches as files that run again to the same hashes. */
export type Experiments = {
  /** A branch up to a position as an experiment: the pieces of one JSON document. */
  export(position: Position): AsyncIterable<string>;
  /** Does an experiment again in a history of its own, to the same hashes. @throws E_EXPERIMENT_DIVERGED, E_EXPERIMENT_INVALID */
  run(source: ExperimentSource, options?: ExperimentRunOptions): Promise<ExperimentRun>;
};
