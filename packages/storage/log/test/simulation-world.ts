import type { Checkpoint, EventLog, HeadState, MemoryLog } from '../src/index.ts';

/** Which rule of the record is left out: each must make the simulation fail. */
export type Ablation = 'record hash' | 'tail hashes' | 'remembered commands';

export const HISTORIES = ['ha', 'hb', 'hc'] as const;

export type Served = {
  readonly history: string;
  readonly seq: number;
  readonly hash: string;
  readonly offset: number;
  readonly command: string;
};

/** Somebody who reads the log and checks its records: a writer, or a store that is stopped and started at random. */
export type Reader = {
  checkpoint: Checkpoint | undefined;
  heads: Map<string, HeadState>;
  served: Served[];
  /** Frames sent and without an outcome yet, as records; only writers have them. */
  sent: {
    readonly seq: number;
    readonly hash: string;
    readonly command: string;
    readonly record: Uint8Array;
    readonly history: string;
  }[];
};

export type World = {
  readonly int: (below: number) => number;
  readonly log: MemoryLog;
  /** The log as readers see it: the same, unless a rule is left out. */
  readonly seen: EventLog;
  readonly ablation: Ablation | undefined;
  readonly writers: readonly Reader[];
  readonly readers: readonly Reader[];
  /** Hashes of the frames that somebody meant to write. */
  readonly genuine: Set<string>;
  /** What a writer told a client: accepted. */
  acknowledged: Served[];
  /** For each record that was altered in place, the history whose frame it was. */
  readonly altered: Map<number, string>;
  commands: number;
};
