import type { WideJson } from '@stemma/canonical';
import {
  expiryOnEntry,
  kindOfType,
  parseNodeInput,
  refuseInsert,
  requireNode,
  type Headers,
  type NodeInput,
  type TreeNode,
} from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { StepOf } from '../command.ts';
import { joinNode } from '../recorded-node.ts';
import { emit, isSysSide, newId, nodeIdAt, timeOf, type PendingFrame } from './pending-frame.ts';

/** Headers that the decision makes (context-tree §2). */
const MADE = ['cycle', 'created_at_ns', 'created_at_iso', 'creation_index', 'content_hash'] as const;

/** Inserts a subtree, one event per node, containers first (context-tree §3, §10.2, §10.6, §10.16). */
export const decideInsert = (pending: PendingFrame, step: StepOf<'insert'>): void => {
  const parent = parentOf(pending, step.parent);
  const time = timeOf(pending, step.at_ns);
  for (const node of [step.node, ...(step.siblings ?? [])]) insertBelow(pending, parent, node, time);
};

/** The node with this id, or the region that `^sys` or `^ah` names. @throws E_NODE_NOT_FOUND */
export const parentOf = (pending: PendingFrame, id: string): TreeNode => {
  const { tree } = pending.branch;
  const found = tree.get(id);
  if (found !== undefined) return found;
  return id === '^sys' ? tree.sys : id === '^ah' ? tree.ah : requireNode(tree, id);
};

const insertBelow = (pending: PendingFrame, parent: TreeNode, value: WideJson, time: bigint): void => {
  const { branch } = pending;
  const input = parseNodeInput(value, { code: 'E_NODE_INVALID', what: 'the node to insert' });
  refuseMade(value as { readonly [name: string]: WideJson }, input);
  const index = branch.nextIndex;
  const cycle = branch.tree.open;
  const kind = kindOfType(input.headers.nodeType);
  refuseInsert(parent, { id: input.id ?? 'the node', kind, offset: input.headers.offset });
  const id = newId(pending, input.id, nodeIdAt(branch.branchId, cycle, index));
  const headers: Headers = { ...input.headers, id, cycle, created_at_ns: time, creation_index: index };
  const expires = expiryOnEntry(headers.ttl, cycle, isSysSide(pending, parent));
  emit(pending, {
    type: 'NodeInserted',
    parent: parent.record.headers.id,
    node: joinNode(headers, input.payload),
    expires,
  });
  const node = requireNode(branch.tree, id);
  for (const child of input.children) insertBelow(pending, node, child, time);
};

const refuseMade = (value: { readonly [name: string]: WideJson }, input: NodeInput): void => {
  const made = MADE.find((name) => value[name] !== undefined);
  if (made !== undefined)
    throw fail('E_NODE_INVALID', `${input.id ?? 'the node'}: Stemma sets ${made}: leave it out`, {
      field: made,
    });
};
