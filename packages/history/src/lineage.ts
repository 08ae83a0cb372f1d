import { freshFixed, recordsOf, Tree, type FixedIds, type ThreadMode } from '@stemma/context-tree';
import { NO_CONFIG } from './config.ts';
import type { LineageParts, LoadLineage } from './signatures.ts';
import type { HistoryState, LineageState, Sources, Standing } from './state.ts';

/** A history of which nothing is at hand; `next` is the `seq` of its next frame. */
export const openHistory = (history: string, next: number): HistoryState => ({
  history,
  next,
  lineages: new Map(),
  branches: new Map(),
  names: new Map(),
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

/**
 * A lineage at its newest frame, taken in from the sources when it is not at hand. One that was only started begins as
 * the tree and configuration of its parent's position (context-tree §10.21).
 *
 * @throws Missing
 */
export const lineageOf = (state: HistoryState, strand: number, sources: Sources): LineageState => {
  const known = state.lineages.get(strand);
  if (known !== undefined) return known;
  const branch = state.branches.get(strand);
  const loaded =
    branch === undefined
      ? sources.position(strand, null)
      : { ...sources.position(branch.parent.strand, branch.parent.at), ...branch };
  const name = state.names.get(strand);
  if (name !== undefined) loaded.name = name;
  state.branches.delete(strand);
  state.lineages.set(strand, loaded);
  return loaded;
};

/** Where a lineage stands: no tree is taken in for it. */
export const standingOf = (state: HistoryState, strand: number, sources: Sources): Standing | undefined => {
  const known = state.lineages.get(strand) ?? state.branches.get(strand);
  if (known !== undefined) return { strand, parent: known.parent, name: known.name, seq: known.seq };
  const found = sources.lineage(strand);
  const name = state.names.get(strand);
  return found === undefined || name === undefined ? found : { ...found, name };
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
