import {
  existing,
  expiryOnEntry,
  kindOfType,
  parseNodeInput,
  refuseInsert,
  type Headers,
  type NodeInput,
  type TreeNode,
} from '@stemma/context-tree';
import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { StepOf } from '../command.ts';
import { joinNode } from '../recorded-node.ts';
import { emit, isSysSide, newId, nodeIdAt, timeOf, type Draft } from './draft.ts';

/** Headers that are made where the command is decided (context-tree §2). */
const MADE = ['cycle', 'created_at_ns', 'created_at_iso', 'creation_index', 'content_hash'] as const;

/** A subtree enters the tree, one event a node, containers first (context-tree §3, §10.2, §10.6, §10.16). */
export const decideInsert = (draft: Draft, step: StepOf<'insert'>): void => {
  const parent = parentOf(draft, step.parent);
  const time = timeOf(draft, step.at_ns);
  for (const node of [step.node, ...(step.siblings ?? [])]) insertBelow(draft, parent, node, time);
};

/** The node with this id, or the region that one of the words `^sys`, `^ah` means. @throws E_NODE_NOT_FOUND */
export const parentOf = (draft: Draft, id: string): TreeNode => {
  const { tree } = draft.lineage;
  const found = tree.get(id);
  if (found !== undefined) return found;
  return id === '^sys' ? tree.sys : id === '^ah' ? tree.ah : existing(tree, id);
};

const insertBelow = (draft: Draft, parent: TreeNode, value: WideJson, time: bigint): void => {
  const { lineage } = draft;
  const input = parseNodeInput(value, { code: 'E_NODE_INVALID', what: 'the node to insert' });
  refuseMade(value as { readonly [name: string]: WideJson }, input);
  const index = lineage.nextIndex;
  const cycle = lineage.tree.open;
  const kind = kindOfType(input.headers.nodeType);
  refuseInsert(parent, { id: input.id ?? 'the node', kind, offset: input.headers.offset });
  const id = newId(draft, input.id, nodeIdAt(lineage.strand, cycle, index));
  const headers: Headers = { ...input.headers, id, cycle, created_at_ns: time, creation_index: index };
  const expires = expiryOnEntry(headers.ttl, cycle, isSysSide(draft, parent));
  emit(draft, {
    type: 'NodeInserted',
    parent: parent.record.headers.id,
    node: joinNode(headers, input.payload),
    expires,
  });
  const node = existing(lineage.tree, id);
  for (const child of input.children) insertBelow(draft, node, child, time);
};

const refuseMade = (value: { readonly [name: string]: WideJson }, input: NodeInput): void => {
  const made = MADE.find((name) => value[name] !== undefined);
  if (made !== undefined)
    throw fail('E_NODE_INVALID', `${input.id ?? 'the node'}: ${made} is made by Stemma, leave it out`, {
      field: made,
    });
};
