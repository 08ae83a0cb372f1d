export type ExperimentRun = {
  readonly history: string;
  readonly lineage: string;
  readonly commands: number;
  /** Commands that were there already: all of them when the experiment had been run before. */
  readonly repeated: number;
  /** Snapshots whose hashes came out as recorded. */
  readonly snapshots: number;
  readonly tree: string;
  readonly thread: string;
};

export type RunOptions = {
  /** A name for the history; without one its id derives from the file. */
  readonly name?: string | null;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
};
