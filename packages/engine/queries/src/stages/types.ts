import type { BranchPosition } from '@stemma/events';
import type { BranchRef, Position } from '@stemma/history-store';
import type {
  CollapsePolicy,
  CompilerOutput,
  ExactJson,
  NodeFacts,
  ProfileName,
  StageName,
  StageTreeView,
  StreamSnapshot,
} from '@stemma/stages';

/** How stages are compiled; by default with our own profile and its default configuration. */
export type StagesSettings = {
  readonly profile?: ProfileName;
  /** `{selection?, header?, frozen?, collapse?, prompt_summary?}` as it was parsed. */
  readonly config?: ExactJson;
};

/** The stages of a position. */
export type StagesAnswer = {
  readonly position: Position;
  readonly profile: ProfileName;
  readonly snapshot: StreamSnapshot;
  readonly lastNode: StreamEntry | null;
  readonly compiler: CompilerOutput;
  readonly collapse: CollapsePolicy;
};

/** A node of the stream without any text: hashes, and its origin. */
export type StreamEntry = {
  readonly ordinal: number;
  readonly id: string;
  readonly kind: string;
  readonly turn: number;
  readonly label: string;
  readonly digest: string;
  readonly payloadHash: string;
  readonly payloadShape: NodeFacts['payloadShape'];
  /** Of lifecycle nodes: they hold ordinals and a cycle. Null for all others. */
  readonly payload: ExactJson;
  /** The frame that added it. */
  readonly seq: number;
};

/** A page of a stream. */
export type StreamPage = {
  readonly entries: readonly StreamEntry[];
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
};

/** Whether a stage differs at a later position, and for which nodes. */
export type StageDifference = {
  readonly stage: StageName;
  readonly a: string;
  readonly b: string;
  readonly moved: boolean;
  /** The parts of the stage that differ, by their keys. */
  readonly parts: readonly string[];
  /** Nodes that it has at one of the positions only; if it has none, those that changed its node_hash. */
  readonly added: readonly StreamEntry[];
  readonly removed: readonly StreamEntry[];
};

export type StagesDiff = {
  readonly a: Position;
  readonly b: Position;
  readonly profile: ProfileName;
  /** The number of nodes at the front that both streams share. */
  readonly shared: number;
  readonly stages: readonly StageDifference[];
};

/** The compiler stages of our own histories, at any position. */
export type StagesQuestions = {
  /** @throws E_STAGES_CONFIG */
  compile(position: Position, settings?: StagesSettings): Promise<StagesAnswer>;
  /** A stage as a tree, with previews of messages only on request. @throws E_STAGES_CONFIG */
  tree(
    position: Position,
    view: { readonly stage: StageName; readonly includePreviews: boolean },
    settings?: StagesSettings,
  ): Promise<StageTreeView>;
  /** The nodes of the stream at a position, oldest first. */
  stream(position: Position, page: { readonly offset: number; readonly limit: number }): Promise<StreamPage>;
  /**
   * The nodes of the stream with their payloads, so with all text: as lines of an event log that compile to the same
   * hashes. Reads from the log only as far as the caller iterates.
   */
  eventLog(position: Position): AsyncIterable<{
    readonly kind: string;
    readonly payload: ExactJson;
    readonly turn: number;
    readonly node_id: string;
  }>;
  /**
   * True for the frames of a branch's past: its own, and those of branches that rollbacks abandoned for it, up to then.
   */
  includesFrame(branchRef: Pick<BranchRef, 'history' | 'branchId'>, frame: BranchPosition): Promise<boolean>;
  /** The nodes that one frame of a branch added to its stream. */
  frame(branchRef: Pick<BranchRef, 'history' | 'branchId'>, seq: number): Promise<readonly StreamEntry[]>;
  /** @throws E_STAGES_CONFIG */
  diff(a: Position, b: Position, settings?: StagesSettings): Promise<StagesDiff>;
};
