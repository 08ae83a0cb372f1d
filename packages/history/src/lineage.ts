import { freshFixed, recordsOf, Tree, type FixedIds, type ThreadMode } from '@stemma/context-tree';
import { NO_CONFIG } from './config.ts';
import type { LineageParts, LoadLineage } from './signatures.ts';
import type { HistoryState, LineageState, Sources } from './state.ts';

/** A history of which nothing is at hand; `next` is the `seq` of its next frame. */
export const openHistory = (history: string, next: number): HistoryState => ({
  history,
  next,
  lineages: new Map(),
});

/** The root lineage of a new history: empty, after cycle `cycle`. */
export const freshLineage = (ids: FixedIds, thread: ThreadMode, cycle: number): LineageState => ({
  strand: 0,
  parent: null,
  name: 'main',
  seq: 0,
  tree: new Tree({ cycle, fixed: freshFixed(ids), turns: [], nodes: [] }, thread, true),
  newest: 0n,
  nextIndex: 0,
  policy: null,
  config: NO_CONFIG,
  thread,
});

export const loadLineage: LoadLineage = (parts) => ({
  strand: parts.strand,
  parent: parts.parent,
  name: parts.name,
  seq: parts.seq,
  tree: new Tree(parts, parts.thread),
  newest: parts.newest,
  nextIndex: parts.nextIndex,
  policy: parts.policy,
  config: parts.config,
  thread: parts.thread,
});

/** A lineage as it is now, as parts that later frames leave alone. */
export const partsOf = (lineage: LineageState): LineageParts => ({
  ...recordsOf(lineage.tree),
  strand: lineage.strand,
  parent: lineage.parent,
  name: lineage.name,
  seq: lineage.seq,
  newest: lineage.newest,
  nextIndex: lineage.nextIndex,
  policy: lineage.policy,
  config: lineage.config,
  thread: lineage.thread,
});

/** The lineage that begins at another's position: the same tree and configuration, a strand of its own (context-tree §10.21). */
export const branch = (
  position: LineageState,
  strand: number,
  parent: { readonly strand: number; readonly at: number },
  name: string | null,
): LineageState => ({ ...position, strand, parent, name });

/** A lineage at its newest frame, taken in from the sources when it is not at hand. @throws PositionNeeded */
export const lineageOf = (state: HistoryState, strand: number, sources: Sources): LineageState => {
  const known = state.lineages.get(strand);
  if (known !== undefined) return known;
  const loaded = sources.position(strand, null);
  state.lineages.set(strand, loaded);
  return loaded;
};

/** What of a lineage changes besides its tree, to put it back. */
export type Scalars = Pick<LineageState, 'name' | 'seq' | 'newest' | 'nextIndex' | 'policy' | 'config'>;

export const scalarsOf = ({ name, seq, newest, nextIndex, policy, config }: LineageState): Scalars => ({
  name,
  seq,
  newest,
  nextIndex,
  policy,
  config,
});
