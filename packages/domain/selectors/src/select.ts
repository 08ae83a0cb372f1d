import type { FlatTree, PayloadSource } from '@stemma/context-tree';
import { codeOfNode, indexOfCode } from './codes.ts';
import { matchGroup, type EvaluationContext } from './evaluate.ts';
import { printGroup } from './print-selector.ts';
import { refuseSnapshotAttributes } from './snapshot-attributes.ts';
import type { Selector } from './syntax.ts';
import { indexOfTree } from './tree-index.ts';

/** `skip` applies before `limit`; `limit: 0` returns nothing (context-tree §10.34). */
export type Window = { readonly limit?: number; readonly skip?: number };

export type SelectOptions = Window & {
  /** False for the working state and for positions that are no commit: `age`, `depth`, `born_turn` are errors there. */
  readonly snapshot?: boolean;
  /**
   * The cycle of the first snapshot on the ancestor path that has the node with an index: `age` counts from it. Without
   * it, the cycle that introduced the node, which is the same for all nodes that were not imported.
   */
  readonly appeared?: (index: number) => number;
};

/**
 * The ids that a selector matches in one tree, in document order, each once. The marker says which tree to query and is
 * ignored here. Pure: the same tree and selector give the same result, and nothing is written (context-tree §6).
 * Indexes of the tree are cached with it, so that further queries of the same tree are fast.
 *
 * @throws E_SELECTOR_INVALID, also when it costs more than a few seconds; Missing (payloads) (all that is missing at
 *   once): fetch and call again.
 */
export const select = (
  tree: FlatTree,
  selector: Selector,
  payloads: PayloadSource,
  { snapshot = true, appeared = (index) => tree.headers[index]?.cycle ?? 0, ...window }: SelectOptions = {},
): readonly string[] => {
  if (!snapshot) refuseSnapshotAttributes(selector.groups);
  const asking: EvaluationContext = { tree, payloads, appeared, index: indexOfTree(tree), work: 0 };
  const groups = new Map(selector.groups.map((group) => [printGroup(group), group]));
  const found = [...groups.values()].map((group) => matchGroup(group, asking));
  return idsOf(tree, inWindow(unionOf(found, tree.count), window));
};

/** Ascending lists of codes of nodes as one, each once. */
const unionOf = (lists: readonly Int32Array[], count: number): Int32Array => {
  const [only = new Int32Array(0)] = lists;
  if (lists.length < 2) return only;
  const size = lists.reduce((sum, list) => sum + list.length, 0);
  if (size < count / 8)
    return Int32Array.from(new Set(lists.flatMap((list) => [...list]))).sort((a, b) => a - b);
  const marks = new Uint8Array(count);
  for (const list of lists) for (const code of list) marks[indexOfCode(code)] = 1;
  const codes = new Int32Array(Math.min(size, count));
  let found = 0;
  for (let node = 0; node < count; node++) if (marks[node] === 1) codes[found++] = codeOfNode(node);
  return codes.subarray(0, found);
};

const idsOf = ({ ids }: FlatTree, codes: Int32Array): readonly string[] => {
  const found = new Array<string>(codes.length);
  for (let i = 0; i < codes.length; i++) found[i] = ids[indexOfCode(codes[i] as number)] as string;
  return found;
};

/** The part of a list inside a window. */
export const inWindow = <T extends { slice(from?: number, to?: number): T }>(
  list: T,
  { skip = 0, limit }: Window,
): T =>
  skip === 0 && limit === undefined ? list : list.slice(skip, limit === undefined ? undefined : skip + limit);
