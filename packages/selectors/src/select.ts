import type { FlatTree, PayloadSource } from '@stemma/context-tree';
import { matchGroup, type Asking } from './evaluate.ts';
import { printGroup } from './print-selector.ts';
import { refuseSnapshotAttributes } from './snapshot-attributes.ts';
import type { Selector } from './syntax.ts';
import { indexOfTree } from './tree-index.ts';

/** `skip` counts before `limit`; `limit: 0` gives nothing (context-tree §10.34). */
export type Window = { readonly limit?: number; readonly skip?: number };

export type SelectOptions = Window & {
  /** False for the working state and for positions that are no commit: `age`, `depth`, `born_turn` are errors there. */
  readonly snapshot?: boolean;
  /**
   * The cycle of the first snapshot on the chain that has the node with an index: what `age` counts from. Without it, the
   * cycle that introduced the node, which is the same for all that no import brought.
   */
  readonly appeared?: (index: number) => number;
};

/**
 * The ids that a selector matches in one tree, in document order, each once. The marker says which tree to ask and is
 * not looked at here. Pure: same tree, same selector, same answer, nothing written (context-tree §6). What is worked out
 * about the tree is kept with it, so that the same tree answers again at once.
 *
 * @throws E_SELECTOR_INVALID, also when it asks more than a few seconds' worth; PayloadNeeded (all that is missing at
 *   once): fetch and call again.
 */
export const select = (
  tree: FlatTree,
  selector: Selector,
  payloads: PayloadSource,
  { snapshot = true, appeared = (index) => tree.headers[index]?.cycle ?? 0, ...window }: SelectOptions = {},
): readonly string[] => {
  if (!snapshot) refuseSnapshotAttributes(selector.groups);
  const asking: Asking = { tree, payloads, appeared, index: indexOfTree(tree), work: 0 };
  const groups = new Map(selector.groups.map((group) => [printGroup(group), group]));
  const found = [...groups.values()].map((group) => matchGroup(group, asking));
  return inWindow(unite(found, tree.count), window).map((index) => tree.ids[index] as string);
};

/** Ascending lists of nodes as one, each node once. */
const unite = (lists: readonly (readonly number[])[], count: number): readonly number[] => {
  const [only = []] = lists;
  if (lists.length < 2) return only;
  const size = lists.reduce((sum, list) => sum + list.length, 0);
  if (size < count / 8) return [...new Set(lists.flat())].sort((a, b) => a - b);
  const marks = new Uint8Array(count);
  for (const list of lists) for (const node of list) marks[node] = 1;
  const nodes: number[] = [];
  for (let node = 0; node < count; node++) if (marks[node] === 1) nodes.push(node);
  return nodes;
};

/** The part of a list that a window shows. */
export const inWindow = <T>(list: readonly T[], { skip = 0, limit }: Window): readonly T[] =>
  skip === 0 && limit === undefined ? list : list.slice(skip, limit === undefined ? undefined : skip + limit);
