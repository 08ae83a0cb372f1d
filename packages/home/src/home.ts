import type { WideJson } from '@stemma/canonical';
import type { FlatTree, PayloadSource } from '@stemma/context-tree';
import type { Author, HistoryEvent } from '@stemma/events';
import type { Command } from '@stemma/history';
import type { Audit } from './audit/types.ts';
import type { DoctorReport, PartitionHealth } from './doctor.ts';
import type { RangeOptions, RangeResult } from '@stemma/selectors';
import type { Line, Outcome, Position } from './place.ts';
import type { Causes } from './causes/types.ts';
import type { Lineages } from './lineages/types.ts';
import type { Call, CallOutcome } from './record-call-types.ts';
import type { Questions } from './questions/types.ts';
import type { StagesQuestions } from './stages/types.ts';

export type { Line, Outcome, Position } from './place.ts';

/** One line of `stemma histories`. */
export type HistorySummary = {
  readonly history: string;
  readonly name: string | null;
  /** Milliseconds since 1970, from the clock of the writer that started it. */
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly source: { readonly format: string; readonly sha256: string } | null;
  readonly frames: number;
  readonly events: number;
  readonly cycles: number;
  readonly lineages: readonly LineageSummary[];
  readonly state: 'open' | 'damaged' | 'defective';
  /** The `seq` at which it stops being served; null while it is open. */
  readonly stopped: number | null;
};

export type LineageSummary = {
  readonly lineage: string;
  readonly strand: number;
  readonly name: string | null;
  readonly parent: number | null;
  readonly at: number | null;
};

export type SnapshotSummary = {
  readonly label: string;
  readonly cycle: number;
  readonly strand: number;
  readonly seq: number;
  readonly treeHash: string;
  readonly threadHash: string;
  readonly at: number;
  readonly author: Author;
  readonly command: string;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
  readonly names: readonly string[];
};

/** The tree at a position, for reading. */
export type TreeView = TreeAt & { readonly payloads: PayloadSource };

/** The tree at a position without its contents. */
export type TreeAt = {
  readonly position: Position;
  readonly tree: FlatTree;
  readonly thread: 'full' | 'pre';
};

/** An accepted event as `stemma log` and the live stream give it. */
export type LoggedEvent = {
  readonly history: string;
  /** What names its lineage now: the history's id for `main`, else `<history>:<strand>`. */
  readonly lineage: string;
  readonly strand: number;
  readonly seq: number;
  readonly index: number;
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly author: Author;
  readonly event: HistoryEvent;
};

export type DiffResult = {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly fields: readonly string[] }[];
};

/** An embedded Stemma: everything one directory holds. All reads see at least what this process has written. */
export type Home = {
  readonly directory: string;
  /** Questions about what was sent: who made it, what a cache could have kept, where something began. */
  readonly questions: Questions;
  /** What an auditor asks: comparisons, interventions and what they led to, experiments. */
  readonly audit: Audit;
  /** The compiler stages of histories, at any position. */
  readonly stages: StagesQuestions;
  readonly causes: Causes;
  /** Lineages, saved positions, configuration, and who looked. */
  readonly lineages: Lineages;
  /** Decides, records durably, and answers. @throws coded errors of the decision, E_CONFLICT, E_OUTCOME_UNKNOWN. */
  submit(command: Command): Promise<Outcome>;
  /** Records the message list of a call that is about to be made: the next snapshot shows it. @throws as `submit`, E_SEALED */
  recordCall(line: Line, call: Call): Promise<CallOutcome>;
  /** All of them, the one that changed last first. */
  histories(): Promise<readonly HistorySummary[]>;
  /** @throws E_HISTORY_NOT_FOUND */
  history(id: string): Promise<HistorySummary>;
  /** Finds a history or lineage by id, by the beginning of an id (4 letters at least), or by name. */
  find(name: string): Promise<Line>;
  snapshots(
    line: Line,
    page?: { readonly before?: number; readonly limit?: number },
  ): Promise<readonly SnapshotSummary[]>;
  /** The position of `@t0 @t-1 @c12 @s57 @name:NAME`; without a reference the working state. */
  position(line: Line, ref?: string): Promise<Position>;
  view(position: Position): Promise<TreeView>;
  /** As `view`, but no content is read: for those who want a part of a large tree. */
  tree(position: Position): Promise<TreeAt>;
  /**
   * What `fn` makes of contents of a history. It is called again, with those at hand that it asked for, until it no
   * longer throws `Missing`.
   */
  withPayloads<T>(history: string, fn: (source: PayloadSource) => T): Promise<T>;
  select(
    line: Line,
    selector: string,
    window?: { readonly limit?: number; readonly skip?: number },
  ): Promise<{ readonly position: Position; readonly ids: readonly string[] }>;
  /** What a selector gives over a range of snapshots, each against the one before it (context-tree §6). */
  range(line: Line, selector: string, options?: RangeOptions): Promise<RangeResult>;
  /** With a selector, restricted to what it matches in either of the two (context-tree §7). */
  diff(line: Line, a: string, b: string, selector?: string): Promise<DiffResult>;
  /**
   * Accepted events of a history from frame `from`, oldest first, a page at a time; with `node` those that named it or took
   * it along, in all lineages. @throws E_NODE_NOT_FOUND if the history never had it
   */
  events(
    history: string,
    page?: { readonly from?: number; readonly limit?: number; readonly node?: string },
  ): Promise<readonly LoggedEvent[]>;
  /**
   * New events as they are accepted, of all histories or of one: after a cursor, or (one history) from a frame, or from
   * now. Ends with the signal. @throws E_STREAM_GONE when the log does not have the cursor.
   */
  follow(options: {
    readonly signal: AbortSignal;
    readonly after?: string;
    readonly history?: string;
    readonly from?: number;
  }): AsyncIterable<{ readonly cursor: string; readonly events: readonly LoggedEvent[] }>;
  /** Sizes and counts: the log, the rows, the contents, each partition's end and cursor. */
  stats(): Promise<Readonly<Record<string, WideJson>>>;
  /** What state log and rows are in, and what should be looked at. Reads no further than the rows stand. */
  doctor(): Promise<DoctorReport>;
  /** Where the rows of each partition stand; asks the log for its end. For metrics and health: cheap. */
  partitions(): Promise<readonly PartitionHealth[]>;
  /** Resolves if questions are answered. @throws E_ROWS_BEHIND while rows are made for the first time; what log and rows throw */
  ready(): Promise<void>;
  /** Builds all rows again from offset zero: beside the old ones, or (`verify`) in a scratch store, comparing every row. */
  replay(options: ReplayOptions): Promise<ReplayReport>;
  /** Reads every record and every content. Rows that were made of what is damaged now are built anew. */
  verify(progress?: (bytes: number, total: number) => void): Promise<VerifyReport>;
  /** Starts a new history from the last good snapshot of one that is damaged or defective. */
  salvage(line: Line): Promise<{ readonly history: string; readonly from: string; readonly seq: number }>;
  /** Opens a partition that a damaged record of unknown history closed. @throws E_NOTHING_TO_ACK */
  acknowledge(partition: number, offset: number): Promise<void>;
  close(): Promise<void>;
};

export type ReplayOptions = {
  readonly verify: boolean;
  /** With `verify`: one replay for each, with so many frames a batch. Default one, as the projector does it. */
  readonly batches?: readonly number[];
  /** With `verify`: stop at random places and begin again with empty caches. */
  readonly stops?: boolean;
  readonly progress?: (frames: number) => void;
};

export type ReplayReport = {
  readonly events: number;
  readonly accepted: number;
  readonly fenced: number;
  readonly rows: number;
  readonly differences: number;
  /** Where the first difference is, in a sentence; null where there is none. */
  readonly firstDifference: string | null;
  readonly seconds: number;
};

export type VerifyReport = {
  readonly ok: boolean;
  readonly records: number;
  readonly contents: number;
  readonly fenced: number;
  readonly problems: readonly {
    readonly kind: string;
    readonly partition: number | null;
    readonly offset: number | null;
    readonly history: string | null;
    /** The `seq` at which the history stops. */
    readonly seq: number | null;
    readonly message: string;
  }[];
};
