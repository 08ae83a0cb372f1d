/** When and what is pruned (context-tree §3.2, §10.14). */
export type Policy = {
  /** While the tree has more blocks than this, blocks of sealed turns go at a commit. */
  readonly max_blocks: number;
  /** The newest turns that are never pruned, counted before sealing. */
  readonly keep_turns: number;
  /** Ids that are never pruned; a container includes its descendants. */
  readonly pins: readonly string[];
};

/** `full`: `^sys`, every turn, `^ah`; `pre`: `^sys` and the pre-context of the newest turn (context-tree §4). */
export type ThreadMode = 'full' | 'pre';
