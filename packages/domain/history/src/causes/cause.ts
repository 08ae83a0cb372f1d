/** What a command did directly. `carry`: a node moved along with its container. */
export type MutationOp = 'start' | 'insert' | 'replace' | 'move' | 'carry' | 'remove' | 'priority';

/**
 * Why something about a node differs from one frame before: data, the same in rows, answers and documents (context-tree
 * §3: one cause). The frame has the author, the command and the time.
 */
export type Cause =
  /** By a command. `by`: the node that the command named, if this one only lay in it; else null. */
  | { readonly kind: 'mutation'; readonly op: MutationOp; readonly by: string | null }
  /** It entered with an import, unchanged. */
  | { readonly kind: 'import' }
  /** Its own `ttl` was 0 and nothing held it. */
  | { readonly kind: 'expiry' }
  /** `contained`: it lay in `by`, which expired; `emptied`: `by` was the last node removed from it. */
  | { readonly kind: 'cascade'; readonly why: 'contained' | 'emptied'; readonly by: string }
  /** The policy allows fewer blocks; `rank` counts the pruned nodes from 0, in order. */
  | { readonly kind: 'pruning'; readonly rule: 'max_blocks'; readonly rank: number }
  /** A commit aged it by one. Not recorded for each node: it follows from `expires` and the commit. */
  | { readonly kind: 'ageing' }
  /** The commit made a turn of the head: the turn itself, and the nodes directly under `^ah`. */
  | { readonly kind: 'sealing'; readonly turn: string }
  /** It was due, but `by`, which stays, refers to it or to something in it. Shows no difference: `ttl` stays 0. */
  | { readonly kind: 'hold'; readonly by: string };

export type CauseKind = Cause['kind'];

/**
 * What a cause explains: that a node was added or removed, or changes of fields by the names that a diff gives them.
 */
export type Explains = 'added' | 'removed' | readonly string[];

type CauseRow = {
  readonly kind: CauseKind;
  /** The kind of mutation; null for other causes. */
  readonly op: MutationOp | null;
  /** The recorded event, or the rule that implies the cause. */
  readonly event: string;
  /** What it explains in a diff. */
  readonly explains: string;
  readonly says: string;
};

const row = (
  kind: CauseKind,
  op: MutationOp | null,
  event: string,
  explains: string,
  says: string,
): CauseRow => ({ kind, op, event, explains, says });

/** All causes, one row for each way in which a difference arises. docs/causes.md shows this table. */
// prettier-ignore
export const CAUSES: readonly CauseRow[] = [
  row('mutation', 'start', 'HistoryStarted', 'added', 'root and regions came with the history'),
  row('mutation', 'insert', 'NodeInserted', 'added', 'a command inserted it'),
  row('mutation', 'replace', 'NodeReplaced', 'content_hash; of containers content_* and data_*', 'a command changed content or attributes'),
  row('mutation', 'move', 'NodeMoved', 'parent', 'a command put it under another parent'),
  row('mutation', 'carry', 'NodeMoved', 'nothing', 'its container was moved, and with it how long it stays'),
  row('mutation', 'remove', 'NodeRemoved', 'removed', 'a command took it out, or what it lay in (`by`)'),
  row('mutation', 'priority', 'PriorityChanged', 'priority', 'the policy gave it another priority'),
  row('import', null, 'NodeImported', 'added', 'it came in with an export'),
  row('expiry', null, 'NodeExpired', 'removed', 'its `ttl` was over at a commit'),
  row('cascade', null, 'NodeCascaded', 'removed', 'it went with the container it lay in, or was a container that was emptied'),
  row('pruning', null, 'NodePruned', 'removed', 'the policy allows fewer blocks'),
  row('ageing', null, 'SnapshotCommitted, with its `expires`', 'ttl', 'a commit made it older by one'),
  row('sealing', null, 'TurnSealed', 'added (the turn), parent (what lay directly under `^ah`)', 'a commit made a turn of the head'),
  row('hold', null, 'NodeHeld', 'nothing', 'it was due, but something that stays refers to it'),
];
