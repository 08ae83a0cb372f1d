/** What a command did by hand. `carry`: a node went along with its container when that was moved. */
export type MutationOp = 'start' | 'insert' | 'replace' | 'move' | 'carry' | 'remove' | 'priority';

/**
 * Why something about a node is other than one frame before: data, the same in rows, answers and documents (context-tree
 * §3: one cause). Who did it and when is the frame's: its author, command and time.
 */
export type Cause =
  /** By a command. `by`: the node that the command named, where this one only lay in it; else null. */
  | { readonly kind: 'mutation'; readonly op: MutationOp; readonly by: string | null }
  /** It came in with an export, as it is. */
  | { readonly kind: 'import' }
  /** Its own `ttl` was 0 and nothing held it. */
  | { readonly kind: 'expiry' }
  /** `contained`: it lay in `by`, which expired; `emptied`: `by` was the last that went out of it. */
  | { readonly kind: 'cascade'; readonly why: 'contained' | 'emptied'; readonly by: string }
  /** The policy allows fewer blocks; `rank` counts from 0 in the order in which they went. */
  | { readonly kind: 'pruning'; readonly rule: 'max_blocks'; readonly rank: number }
  /** A commit made it older by one. Not recorded for each node: it follows from `expires` and the commit. */
  | { readonly kind: 'ageing' }
  /** The commit made a turn of the head: the turn itself, and what lay directly under `^ah`. */
  | { readonly kind: 'sealing'; readonly turn: string }
  /** It was due, but `by`, which stays, refers to it or to something in it. Shows no difference: `ttl` stays 0. */
  | { readonly kind: 'hold'; readonly by: string };

export type CauseKind = Cause['kind'];

/** What a cause accounts for: that a node came, that it went, or fields of it by the names that a diff gives them. */
export type Explains = 'added' | 'removed' | readonly string[];

type CauseRow = {
  readonly kind: CauseKind;
  /** For mutations: which. */
  readonly op: MutationOp | null;
  /** The recorded event, or what it follows from. */
  readonly event: string;
  /** What of a diff it accounts for. */
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

/** Every cause there is: one row for each way in which a difference comes about. docs/causes.md shows it. */
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
