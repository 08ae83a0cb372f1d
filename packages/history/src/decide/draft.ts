import { checkId, liesInSys, type Blame, type TreeNode } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { evolve, type LineageEvent } from '../evolve.ts';
import type { LineageState, Lookups, Sources, Standing } from '../state.ts';

/** A command while it is decided: the events so far, already applied to the lineage's tree, which is taken back at the end. */
export type Draft = {
  readonly lineage: LineageState;
  /** The `seq` that the frame is going to have. */
  readonly seq: number;
  readonly clock: bigint;
  /** The one time of the command's nodes, once it is needed (context-tree §2). */
  time: bigint | null;
  readonly events: HistoryEvent[];
  readonly sources: Sources;
  readonly lookups: Lookups;
  /** Ids and names that the command itself has used. */
  readonly ids: Set<string>;
  readonly names: Set<string>;
  /** The id of the command. */
  readonly command: string;
  /** Where a lineage of the history stands; undefined: there is none. */
  readonly standing: (strand: number) => Standing | undefined;
};

/** Records a fact and applies it, so that the next step sees it. */
export const emit = (draft: Draft, event: LineageEvent): void => {
  const ref = { seq: draft.seq, index: draft.events.length };
  draft.events.push(event);
  evolve(draft.lineage, event, ref, draft.sources);
};

/**
 * The time of a step's nodes: one value for a command, the clock's, but always past what the lineage has
 * (context-tree §2: time); or of its own (imports, §9: times and ids).
 */
export const timeOf = (draft: Draft, own: bigint | undefined): bigint => {
  const least = draft.lineage.newest + 1n;
  if (own !== undefined) return own > least ? own : least;
  draft.time ??= draft.clock > least ? draft.clock : least;
  return draft.time;
};

const taken = (draft: Draft, id: string): boolean =>
  draft.lineage.tree.get(id) !== undefined || draft.ids.has(id) || draft.lookups.idTaken(id);

const GIVEN: Blame = { code: 'E_NODE_INVALID', what: 'the node' };

/**
 * The id of a new node: the given one, or one made from its position, with `-` appended while taken (context-tree §2).
 *
 * @throws E_NODE_EXISTS when the given id was ever used in the history; E_KEY_TOO_LONG; Missing.
 */
export const newId = (draft: Draft, given: string | undefined, made: string): string => {
  let id = given ?? made;
  if (given === undefined) while (taken(draft, id)) id += '-';
  else {
    checkId(given, GIVEN);
    if (taken(draft, given))
      throw fail('E_NODE_EXISTS', `the id ${given} is or was in use in this history`, { id: given });
  }
  draft.ids.add(id);
  return id;
};

/** The id that a node at a place in the order of insertion is given: no two of a history are alike. */
export const nodeIdAt = (strand: number, cycle: number, index: number): string =>
  `n:${strand}:${cycle}:${index}`;
export const turnIdAt = (strand: number, cycle: number): string => `t:${strand}:${cycle}`;

/** True if what is put below this node lies under `^sys`. */
export const isSysSide = (draft: Draft, parent: TreeNode): boolean =>
  parent === draft.lineage.tree.sys ||
  (parent.parent !== null &&
    parent !== draft.lineage.tree.ah &&
    'place' in parent.record &&
    liesInSys(parent));
