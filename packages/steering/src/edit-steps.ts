import type { WideJson } from '@stemma/canonical';
import { NODE_KIND, parentIdAt, type FlatTree, type Headers } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Step } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import type { SteeredHome } from './types.ts';

/**
 * The steps that give a block another content. An open block is replaced; one of a sealed turn is removed, and another one
 * takes its place.
 *
 * @throws E_NODE_NOT_FOUND; E_PLACEMENT for a container; E_SEALED for a core, or if others stand behind it at its offset
 */
export const editSteps = async (
  home: SteeredHome,
  branch: BranchRef,
  id: string,
  content: WideJson,
): Promise<readonly Step[]> => {
  const { tree, payloads } = await home.view(await home.position(branch));
  const index = tree.indexOf(id);
  if (index === undefined) throw fail('E_NODE_NOT_FOUND', `there is no node ${id}`, { id });
  if (tree.kinds[index] !== NODE_KIND.block)
    throw fail('E_PLACEMENT', `${id} is no block: only blocks have a content to edit`, { id });
  const isSealed = (tree.depths[index] as number) >= 1;
  if (!isSealed) return [{ op: 'replace', id, set: { content } }];
  const { role, kind, offset } = tree.headers[index] as Headers;
  if (offset === 0 || !isLastAtOffset(tree, index))
    throw fail(
      'E_SEALED',
      `${id} is in a sealed turn, and its place cannot be kept: fork before it, or roll back`,
      { id },
    );
  const ref = tree.payloads[index] ?? null;
  const {
    content: _before,
    data_message: _message,
    data_continues: _on,
    ...rest
  } = ref === null ? {} : payloads(ref);
  const node = {
    nodeType: 'cb',
    offset,
    ...(role === undefined ? {} : { role }),
    ...(kind === undefined ? {} : { kind }),
    ...rest,
    content,
  };
  return [
    { op: 'remove', id },
    { op: 'insert', parent: parentIdAt(tree, index) as string, node },
  ];
};

/** True if no block at the offset comes after this one: a new block stands where it stood. */
const isLastAtOffset = (tree: FlatTree, index: number): boolean => {
  const next = tree.ends[index] as number;
  return (
    tree.parents[next] !== tree.parents[index] || tree.headers[next]?.offset !== tree.headers[index]?.offset
  );
};
