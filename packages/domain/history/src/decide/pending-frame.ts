import { checkId, isInSys, requireNode, type InputErrorContext, type TreeNode } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { isOf, type HistoryEvent } from '@stemma/events';
import { evolve, type BranchEvent } from '../evolve.ts';
import type { BranchState, BranchTip, Lookups, Sources } from '../state.ts';

/** A command while it is decided. Its events so far are applied to the branch's tree, which is restored at the end. */
export type PendingFrame = {
  /** @throws E_INTERNAL if the frame changes no branch that there is */
  readonly branch: BranchState;
  readonly history: string;
  /** The branch that the command names. */
  readonly branchId: number;
  /** The `seq` that the frame will have. */
  readonly seq: number;
  readonly clock: bigint;
  /** The one time of the command's nodes; null until a step needs it (context-tree §2). */
  time: bigint | null;
  readonly events: HistoryEvent[];
  readonly sources: Sources;
  readonly lookups: Lookups;
  /** Ids and names that the command itself uses. */
  readonly ids: Set<string>;
  readonly names: Set<string>;
  /** The id of the command. */
  readonly command: string;
  /** The tip of a branch of the history; undefined: there is no such branch. */
  readonly tipOf: (branchId: number) => BranchTip | undefined;
};

/** Adds an event that a step decided, and applies it, so that what is decided next sees its effect. */
export const record = (pending: PendingFrame, event: HistoryEvent): void => {
  const ref = { seq: pending.seq, index: pending.events.length };
  pending.events.push(event);
  // The step that decides a snapshot has ended the cycle, and computed the hashes that applying it would compare.
  if (!isOf(event, 'snapshot')) evolve(pending.branch, event as BranchEvent, ref, pending.sources);
};

/**
 * The time of a step's nodes: one value per command, from the clock but always later than the branch's newest node
 * (context-tree §2: time); or the step's own time (imports, §9: times and ids).
 */
export const timeOf = (pending: PendingFrame, own: bigint | undefined): bigint => {
  const least = pending.branch.newest + 1n;
  if (own !== undefined) return own > least ? own : least;
  pending.time ??= pending.clock > least ? pending.clock : least;
  return pending.time;
};

const isIdTaken = (pending: PendingFrame, id: string): boolean => {
  const { tree } = pending.branch;
  if (tree.getLoaded(id) !== undefined || pending.ids.has(id) || pending.lookups.idTaken(id)) return true;
  tree.noteAbsent(id);
  return false;
};

const GIVEN: InputErrorContext = { code: 'E_NODE_INVALID', what: 'the node' };

/**
 * The id of a new node: the given one, or one made from its position, with `-` appended while taken (context-tree §2).
 *
 * @throws E_NODE_EXISTS when the given id was ever used in the history; E_KEY_TOO_LONG; Missing.
 */
export const newId = (pending: PendingFrame, given: string | undefined, made: string): string => {
  let id = given ?? made;
  if (given === undefined) while (isIdTaken(pending, id)) id += '-';
  else {
    checkId(given, GIVEN);
    if (isIdTaken(pending, given))
      throw fail('E_NODE_EXISTS', `the id ${given} is already used in this history`, { id: given });
  }
  pending.ids.add(id);
  return id;
};

/** The id made for a node from its index in the order of insertion, unique in the history. */
export const nodeIdAt = (branchId: number, cycle: number, index: number): string =>
  `n:${branchId}:${cycle}:${index}`;
export const turnIdAt = (branchId: number, cycle: number): string => `t:${branchId}:${cycle}`;

/** The node with this id, or the region that `^sys` or `^ah` names. @throws E_NODE_NOT_FOUND */
export const parentOf = (pending: PendingFrame, id: string): TreeNode => {
  const { tree } = pending.branch;
  const found = tree.get(id);
  if (found !== undefined) return found;
  return id === '^sys' ? tree.sys : id === '^ah' ? tree.ah : requireNode(tree, id);
};

/** True if children of this node are under `^sys`. */
export const isSysSide = (pending: PendingFrame, parent: TreeNode): boolean =>
  parent === pending.branch.tree.sys ||
  (parent.parent !== null &&
    parent !== pending.branch.tree.ah &&
    'location' in parent.record &&
    isInSys(parent));
