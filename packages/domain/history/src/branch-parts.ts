import type { KeptSums, NodeRecord, Policy, ThreadMode, TreeParts, TurnRecord } from '@stemma/context-tree';
import type { Config } from './config.ts';
import type { BranchState } from './state.ts';

/** A branch at one position, as rows hold it. */
export type BranchParts = TreeParts & {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  readonly name: string | null;
  /** The newest frame of the position. */
  readonly seq: number;
  readonly newest: bigint;
  readonly nextIndex: number;
  readonly policy: Policy | null;
  readonly config: Config;
  readonly thread: ThreadMode;
  readonly turns: Iterable<TurnRecord>;
  readonly nodes: Iterable<NodeRecord>;
};

/**
 * A branch built from its parts. The parts hold no digests: the first commit after loading computes them from the
 * payloads (and may throw Missing for some), later commits cost what changed. `kept`: the parts lack the nodes of turns that
 * are not loaded (`Tree.load` adds them), and their digests are these.
 */
export type LoadBranch = (parts: BranchParts, kept?: KeptSums) => BranchState;
