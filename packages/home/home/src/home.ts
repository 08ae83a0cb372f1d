import type { WideJson } from '@stemma/canonical';
import type {
  AssignedCall,
  Call,
  CallDestination,
  CallEnd,
  CallOutcome,
  Corrector,
  LinkedConversation,
  PlacedCall,
  TipCall,
  UnplacedCall,
} from '@stemma/call-recording';
import type { ForkSteps, Outcome, TriedFork } from '@stemma/command-handler';
import type { PayloadSource } from '@stemma/context-tree';
import type { CallAddress, BranchPosition } from '@stemma/events';
import type { Command } from '@stemma/history';
import type { BranchRef, Position, TreeAt, TreeView } from '@stemma/history-store';
import type { RecordRange } from '@stemma/log';
import type {
  AcknowledgedDamage,
  DoctorReport,
  Experiments,
  KnownDamage,
  PartitionHealth,
  ReplayOptions,
  ReplayReport,
  Salvaged,
  SecretsScope,
  SignedLog,
  VerifyOptions,
  VerifyReport,
} from '@stemma/operations';
import type {
  CallAttempts,
  Audit,
  Branches,
  Causes,
  DiffResult,
  HistoryFilter,
  HistoryList,
  HistorySummary,
  LoggedEvent,
  PoolQuestions,
  RequestedRuns,
  Questions,
  SnapshotSummary,
  StagesQuestions,
} from '@stemma/queries';
import type { Search } from '@stemma/search';
import type { RangeOptions, RangeResult } from '@stemma/selectors';
import type { Steering } from '@stemma/steering';

/** An embedded Stemma: everything one directory holds. All reads see at least what this process has written. */
export type Home = {
  readonly directory: string;
  /** Questions about what was sent: who made it, what a cache could have kept, where something began. */
  readonly questions: Questions;
  /** What an auditor asks: comparisons, interventions and what they led to. */
  readonly audit: Audit;
  /** Finds texts in all histories. */
  readonly search: Pick<Search, 'find'>;
  /** Branches as files that run again to the same hashes. */
  readonly experiments: Experiments;
  /** Pools in figures, and the vectors of their messages. */
  readonly pools: PoolQuestions;
  /** The runs of pools that somebody asked a runner for. */
  readonly runs: RequestedRuns;
  /** The compiler stages of histories, at any position. */
  readonly stages: StagesQuestions;
  readonly causes: Causes;
  /** Calls that observers steer: their changes in what goes out, breakpoints, calls that wait. */
  readonly steering: Steering;
  /** What models were asked, and what came back. */
  readonly calls: CallAttempts;
  /** Branches, saved positions, configuration, and who looked. */
  readonly branches: Branches;
  /** Resolves when everything that is in the log now is seen by what is read next. @throws E_ROWS_BEHIND */
  catchUp(): Promise<void>;
  /** Decides, records durably, and answers. @throws coded errors of the decision, E_CONFLICT, E_OUTCOME_UNKNOWN. */
  submit(command: Command): Promise<Outcome>;
  /**
   * Decides steps as in forks at a position, and records nothing: what it throws, `submit` would throw once they are there.
   *
   * @returns the first of the forks
   * @throws coded errors of the decision, E_TOOL_PAIR
   */
  tryInFork(position: Position, steps: ForkSteps): Promise<TriedFork>;
  /** Records the message list of a call that is about to be made: the next snapshot shows it. @throws as `submit`, E_SEALED */
  recordCall(branchRef: BranchRef, call: Call): Promise<CallOutcome>;
  /** Records a call where its messages say that it belongs. @throws as `recordCall`, except E_CONFLICT */
  recordRequest(call: UnplacedCall): Promise<PlacedCall>;
  /** Records that a model is called with what a branch shows now. @throws as `submit` */
  startCallAtTip(branchRef: BranchRef, call: TipCall): Promise<Outcome>;
  /** The frame of a command that was accepted in a history. */
  findCommand(history: string, id: string): Promise<BranchPosition | undefined>;
  /** Records how an attempt to call a model ended. @throws as `submit`, E_CALL_NOT_FOUND */
  finishCall(branchRef: BranchRef, end: CallEnd): Promise<Outcome>;
  /**
   * Corrects the guess about whose conversation a call is: records it where it belongs, and marks where it was.
   *
   * @throws E_CALL_NOT_FOUND, E_COMMAND_INVALID, as `recordCall`
   */
  assignCall(
    call: { readonly history: string; readonly attemptId: string },
    destination: CallDestination,
    corrector: Corrector,
    /** Also those after it on its branch. */
    following?: boolean,
  ): Promise<readonly AssignedCall[]>;
  /**
   * Claims a run of this name for the caller, among all processes of this directory: nobody else makes its calls meanwhile.
   *
   * @returns what gives it back
   * @throws E_BUSY
   */
  claimRun(run: string): () => void;
  /**
   * Says which call led to the conversation on a branch, or that none did.
   *
   * @throws E_COMMAND_INVALID for a circle
   */
  linkConversation(
    branch: BranchRef,
    parent: CallAddress | null,
    corrector: Corrector,
  ): Promise<LinkedConversation>;
  /** The histories that were started as erasable, about a subject, and are not erased. */
  erasable(subject: string): Promise<readonly string[]>;
  /** About whom a history was started that can be erased here; undefined: it cannot. */
  erasableAs(history: string): Promise<{ readonly subject: string | null } | undefined>;
  /** The histories whose keys were destroyed here, by id. */
  erased(): Promise<readonly string[]>;
  /** True if rules take secrets out of what is recorded. */
  readonly redacts: boolean;
  /** True if others may write to its log who do not have its directory. */
  readonly isLogRemote: boolean;
  /** A text about an input, as the message of an error is, without what the home redacts. */
  redactText(text: string): string;
  /** All of them, the one that changed last first. */
  histories(): Promise<readonly HistorySummary[]>;
  /** Those that a filter lets through, a page of them, in the same order. */
  listHistories(filter: HistoryFilter): Promise<HistoryList>;
  /** @throws E_HISTORY_NOT_FOUND */
  history(id: string): Promise<HistorySummary>;
  /** Finds a history or branch by id, by the beginning of an id (4 letters at least), or by name. */
  find(name: string): Promise<BranchRef>;
  snapshots(
    branchRef: BranchRef,
    page?: { readonly before?: number; readonly limit?: number },
  ): Promise<readonly SnapshotSummary[]>;
  /** The position of `@t0 @t-1 @c12 @s57 @name:NAME`; without a reference the working state. */
  position(branchRef: BranchRef, ref?: string): Promise<Position>;
  view(position: Position): Promise<TreeView>;
  /** As `view`, but of some nodes with what they contain: reads these, and not the rest of the tree. */
  partialView(position: Position, ids: readonly string[]): Promise<TreeView>;
  /**
   * As `view`, but of one node with what contains it and what it contains; undefined if the position does not have it. Depths are
   * those of the whole.
   */
  nodeView(position: Position, id: string): Promise<TreeView | undefined>;
  /** As `view`, but no content is read: for those who want a part of a large tree. */
  tree(position: Position): Promise<TreeAt>;
  /**
   * What `fn` makes of contents of a history. It is called again, with those at hand that it asked for, until it no
   * longer throws `Missing`.
   */
  withPayloads<T>(history: string, fn: (source: PayloadSource) => T): Promise<T>;
  select(
    branchRef: BranchRef,
    selector: string,
    window?: { readonly limit?: number; readonly skip?: number },
  ): Promise<{ readonly position: Position; readonly ids: readonly string[] }>;
  /** What a selector gives over a range of snapshots, each against the one before it (context-tree §6). */
  range(branchRef: BranchRef, selector: string, options?: RangeOptions): Promise<RangeResult>;
  /** With a selector, restricted to what it matches in either of the two (context-tree §7). */
  diff(branchRef: BranchRef, a: string, b: string, selector?: string): Promise<DiffResult>;
  /** The difference of two trees of one ancestor path, of which somebody has both: reads only what is between them. */
  diffTrees(older: TreeAt, newer: TreeAt): Promise<DiffResult>;
  /**
   * Accepted events of a history from frame `from`, oldest first, a page at a time; with `node` those that named it or took
   * it along, in all branches. @throws E_NODE_NOT_FOUND if the history never had it
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
  /**
   * What state log and rows are in, and what should be looked at; a log in the directory is read once more. Looks for
   * secrets in a sample of the frames, for a second at most, or in `all`.
   */
  doctor(secrets?: SecretsScope): Promise<DoctorReport>;
  /** Damage that the rows know of: what is not shown although it was recorded. Cheap. */
  damage(): Promise<KnownDamage>;
  /** Where the rows of each partition stand; asks the log for its end. For metrics and health: cheap. */
  partitions(): Promise<readonly PartitionHealth[]>;
  /**
   * Resolves if questions are answered and commands are taken. @throws E_ROWS_BEHIND while rows are made for the first time; E_IO
   * while the disk has no room for what is recorded; what log and rows throw
   */
  ready(): Promise<void>;
  /** Builds all rows again from offset zero: beside the old ones, or (`verify`) in a scratch store, comparing every row. */
  replay(options: ReplayOptions): Promise<ReplayReport>;
  /** Reads every record, every content, and rows. Rows that are damaged, or were made of what is damaged now, are built anew. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /**
   * A signed note of what each partition holds now, to keep elsewhere: it shows later that the log only grew. Reads the whole
   * log. @throws E_PARTITION_CLOSED, E_KEY_INVALID
   */
  checkpoint(): Promise<SignedLog>;
  /** Starts a new history from the last good snapshot of one that is damaged or defective. */
  salvage(branchRef: BranchRef): Promise<Salvaged>;
  /** Acknowledges damaged records of unknown histories, which close a partition. @throws E_NOTHING_TO_ACK, E_RECORD_INTACT */
  acknowledge(partition: number, range: RecordRange): Promise<AcknowledgedDamage>;
  close(): Promise<void>;
};
