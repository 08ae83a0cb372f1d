import type { WideJson } from '@stemma/canonical';
import { isInTurn, NODE_KIND, parentIdAt, type FlatTree, type Headers } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Step } from '@stemma/history';
import type { BranchRef, Position, TreeView } from '@stemma/history-store';
import { defined } from '@stemma/values';
import type { SteeredHome } from './types.ts';

/** New contents of blocks, by their ids. */
export type ContentEdits = ReadonlyMap<string, WideJson>;

/**
 * The steps that give blocks another content. An open block is replaced; one of a sealed turn is removed, and another one
 * takes its place: those that stand behind it at its offset are removed, too, and come back behind it as they were.
 *
 * @param at the position that the blocks stand at; default: the tip of the branch
 * @throws E_NODE_NOT_FOUND; E_PLACEMENT for a container; E_SEALED for a core, or if what stands behind it cannot be put back
 */
export const editSteps = async (
  home: Pick<SteeredHome, 'view' | 'position'>,
  branch: BranchRef,
  edits: ContentEdits,
  at?: Position,
): Promise<readonly Step[]> => {
  const { tree, payloads } = await home.view(at ?? (await home.position(branch)));
  const indexes = [...edits.keys()].map((id) => blockAt(tree, id)).sort((a, b) => a - b);
  const steps: Step[] = [];
  const done = new Set<number>();
  for (const index of indexes) {
    if (done.has(index)) continue;
    const id = idAt(tree, index);
    if (!isInTurn(tree, index)) {
      steps.push({ op: 'replace', id, set: { content: edits.get(id) as WideJson } });
      continue;
    }
    const moved = [index, ...behindAtOffset(tree, index)];
    refuseLostPlace(tree, moved);
    for (const each of moved) {
      done.add(each);
      steps.push({ op: 'remove', id: idAt(tree, each) });
    }
    steps.push(...moved.map((each, i) => insertAgain({ tree, payloads }, each, moved[i + 1], edits)));
  }
  return steps;
};

/** @throws E_NODE_NOT_FOUND, E_PLACEMENT */
const blockAt = (tree: FlatTree, id: string): number => {
  const index = tree.indexOf(id);
  if (index === undefined) throw fail('E_NODE_NOT_FOUND', `there is no node ${id}`, { id });
  if (tree.kinds[index] !== NODE_KIND.block)
    throw fail('E_PLACEMENT', `${id} is no block: only blocks have a content to edit`, { id });
  return index;
};

/** A core has its place for ever, and what counts its snapshots would begin to count anew. @throws E_SEALED */
const refuseLostPlace = (tree: FlatTree, [index, ...behind]: readonly number[]): void => {
  const { id, offset } = tree.headers[index as number] as Headers;
  const comesBack = behind.every(
    (each) => tree.kinds[each] === NODE_KIND.block && (tree.headers[each] as Headers).ttl === null,
  );
  if (offset !== 0 && comesBack) return;
  throw fail(
    'E_SEALED',
    `${id} is in a sealed turn, and its place cannot be kept: retry the call with --edit and the list of all messages`,
    { id },
  );
};

/** The step that puts a block back, perhaps with another content. */
const insertAgain = (
  { tree, payloads }: Pick<TreeView, 'tree' | 'payloads'>,
  index: number,
  next: number | undefined,
  edits: ContentEdits,
): Step => {
  const payloadOf = (each: number) => {
    const ref = tree.payloads[each] ?? null;
    return ref === null ? {} : payloads(ref);
  };
  const { id, role, kind, offset, priority } = tree.headers[index] as Headers;
  const payload = payloadOf(index);
  const content = edits.get(id);
  const on = next === undefined ? undefined : payloadOf(next)['data_continues'];
  const node = {
    nodeType: 'cb',
    offset,
    ...defined({ role, kind }),
    ...(priority === 0 || content !== undefined ? {} : { priority }),
    ...(content === undefined ? payload : { ...editedPayload(payload, on), content }),
  };
  return { op: 'insert', parent: parentIdAt(tree, index) as string, node };
};

/**
 * What stays of a block whose content changes. Blocks of one message stay together; how the content of a message that has no
 * other was written says nothing of the new one.
 */
const editedPayload = (payload: NodePayload, nextContinues: WideJson | undefined): NodePayload => {
  const { content: _before, data_message: message, data_continues: on, ...rest } = payload;
  if (nextContinues === undefined) return rest;
  if (on === nextContinues) return { ...rest, data_continues: nextContinues };
  return ordinalIn(message) === nextContinues ? { ...rest, data_message: message as WideJson } : rest;
};

type NodePayload = Readonly<Record<string, WideJson>>;

const idAt = (tree: FlatTree, index: number): string => (tree.headers[index] as Headers).id;

const ordinalIn = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'ordinal' in message ? message.ordinal : undefined;

/** What comes after a node at its offset: a new block stands where it stood only if these come after that one. */
const behindAtOffset = (tree: FlatTree, index: number): readonly number[] => {
  const found: number[] = [];
  const isBeside = (at: number): boolean =>
    tree.parents[at] === tree.parents[index] && tree.headers[at]?.offset === tree.headers[index]?.offset;
  for (let at = tree.ends[index] as number; isBeside(at); at = tree.ends[at] as number) found.push(at);
  return found;
};
