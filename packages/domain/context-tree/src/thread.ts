import { canonicalJson, type WideJson } from '@stemma/canonical';
import { NODE_KIND, type FlatTree } from './flat-tree.ts';
import type { Headers, PayloadSource } from './node.ts';
import type { ThreadMode } from './policy.ts';

/** One entry of the provider thread. */
export type ThreadBlock = {
  readonly id: string;
  readonly role: string | null;
  readonly kind: string | null;
  readonly content: WideJson;
};

/** The role that a block is shown with: a missing one is `system` under `^sys`, else `user` (context-tree §4). */
export const roleOf = (headers: Pick<Headers, 'role'>, inSys: boolean): string | null =>
  headers.role === undefined ? (inSys ? 'system' : 'user') : headers.role;

/** The canonical JSON of a block's entry, from the canonical JSON of its content (`""` without content). */
export const blockJson = (headers: Headers, content: string, inSys: boolean): string =>
  `{"content":${content},"id":${canonicalJson(headers.id)},"kind":${canonicalJson(headers.kind === undefined ? '' : headers.kind)},"role":${canonicalJson(roleOf(headers, inSys))}}`;

/**
 * The indexes of the blocks in the provider thread, in order (context-tree §4): all blocks, or with `pre` those of
 * `^sys` and of the pre-context of the newest turn.
 */
export const threadIndexes = (tree: FlatTree, mode: ThreadMode): number[] => {
  const indexes: number[] = [];
  const take = (from: number, to: number): void => {
    for (let i = from; i < to; i++) if (tree.kinds[i] === NODE_KIND.block) indexes.push(i);
  };
  if (mode === 'full') {
    take(0, tree.count);
    return indexes;
  }
  take(tree.sys, tree.seq);
  const newest = newestTurn(tree);
  if (newest === undefined) return indexes;
  for (let i = newest + 1; i < (tree.ends[newest] as number); i = tree.ends[i] as number)
    if ((tree.headers[i] as Headers).offset < 0) take(i, tree.ends[i] as number);
  return indexes;
};

const newestTurn = (tree: FlatTree): number | undefined => {
  let newest: number | undefined;
  for (let i = tree.seq + 1; i < tree.ah; i = tree.ends[i] as number) newest = i;
  return newest;
};

/** The provider thread: what the model is shown (context-tree §4). @throws Missing (payloads) */
export const providerThread = (
  tree: FlatTree,
  source: PayloadSource,
  mode: ThreadMode = 'full',
): ThreadBlock[] =>
  threadIndexes(tree, mode).map((i) => {
    const headers = tree.headers[i] as Headers;
    const content = contentAt(tree, i, source);
    const kind = headers.kind === undefined ? '' : headers.kind;
    return {
      id: headers.id,
      role: roleOf(headers, i < tree.seq),
      kind,
      content: content === undefined ? '' : content,
    };
  });

/** The bytes of the provider thread: the canonical JSON of its blocks, ASCII. @throws Missing (payloads) */
export const threadBytes = (tree: FlatTree, source: PayloadSource, mode: ThreadMode = 'full'): string =>
  sliceText(tree, threadIndexes(tree, mode), source);

/** The canonical JSON of some blocks of the thread. */
export const sliceText = (tree: FlatTree, indexes: readonly number[], source: PayloadSource): string => {
  const entries = indexes.map((i) => {
    const content = contentAt(tree, i, source);
    return blockJson(
      tree.headers[i] as Headers,
      content === undefined ? '""' : canonicalJson(content),
      i < tree.seq,
    );
  });
  return `[${entries.join(',')}]`;
};

/** The content of a node; undefined if it has none. @throws Missing (payloads) */
export const contentAt = (tree: FlatTree, index: number, source: PayloadSource): WideJson | undefined => {
  const ref = tree.payloads[index];
  return ref === null || ref === undefined ? undefined : source(ref)['content'];
};
