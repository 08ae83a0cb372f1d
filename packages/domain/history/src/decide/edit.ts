import { compareCodePoints, isForbiddenKey, type WideJson } from '@stemma/canonical';
import {
  checkValue,
  eachInSubtree,
  expiryOnEntry,
  headersOf,
  idOf,
  isContentAttribute,
  isInSys,
  priorityOf,
  requireMovable,
  requireNode,
  requireRemovable,
  requireReplaceable,
  type NodeRecord,
  type TreeNode,
} from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { StepOf } from '../command.ts';
import { parentOf } from './insert.ts';
import { emit, isSysSide, type PendingFrame } from './pending-frame.ts';

/** Changes content and attributes of an open node; its other headers never change (context-tree §2, §10.10). */
export const decideReplace = (pending: PendingFrame, step: StepOf<'replace'>): void => {
  const node = requireReplaceable(pending.branch.tree, step.id);
  const fields = Object.keys(step.set).sort(compareCodePoints);
  if (fields.length === 0)
    throw fail('E_NODE_INVALID', `${step.id}: the command sets nothing`, { id: step.id });
  for (const field of fields) refuseField(node, field);
  const { payload: ref } = node.record;
  const payload: Record<string, WideJson> = { ...(ref === null ? {} : pending.sources.payload(ref)) };
  const blame = { code: 'E_NODE_INVALID', what: step.id } as const;
  for (const field of fields) payload[field] = checkValue(step.set[field] as WideJson, field, blame);
  emit(pending, {
    type: 'NodeReplaced',
    id: step.id,
    fields,
    payload,
  });
};

const refuseField = (node: TreeNode, field: string): void => {
  const id = idOf(node);
  if (isForbiddenKey(field)) throw fail('E_INPUT_FORBIDDEN_KEY', `${id}: ${field} is not an attribute`);
  if (field !== 'content' && !isContentAttribute(field))
    throw fail(
      'E_HEADER_IMMUTABLE',
      `${id}: ${field} cannot be changed; only content, content_* and data_* can`,
      {
        id,
        field,
      },
    );
  if (field === 'content' && node.kids !== null)
    throw fail('E_NODE_INVALID', `${id} is a container and cannot have content`, { id });
};

/** Moves an open node with its children (context-tree §3); a node that leaves `^sys` starts to age. */
export const decideMove = (pending: PendingFrame, step: StepOf<'move'>): void => {
  const { tree } = pending.branch;
  if (step.offset !== undefined)
    throw fail('E_HEADER_IMMUTABLE', `${step.id}: a move cannot change the offset`, {
      id: step.id,
      field: 'offset',
    });
  const target = parentOf(pending, step.parent);
  const { node, parent } = requireMovable(tree, step.id, idOf(target));
  const expires: { id: string; expires: number | null }[] = [];
  const toSys = isSysSide(pending, parent);
  if (isInSys(node) !== toSys)
    eachInSubtree(node, (each) => {
      const next = expiryOnEntry(headersOf(each).ttl, tree.open, toSys);
      if (next !== (each.record as NodeRecord).expires) expires.push({ id: idOf(each), expires: next });
    });
  emit(pending, { type: 'NodeMoved', id: step.id, parent: idOf(parent), expires });
};

/** Removes a node with its children by hand (context-tree §3, §10.16, §10.18). */
export const decideRemove = (pending: PendingFrame, step: StepOf<'remove'>): void => {
  const { subtree } = requireRemovable(pending.branch.tree, step.id);
  emit(pending, { type: 'NodeRemoved', id: step.id, subtree: [...subtree] });
};

/** Changes priorities of any nodes, as the policy decides (context-tree §10.15). */
export const decidePriorities = (pending: PendingFrame, step: StepOf<'priorities'>): void => {
  for (const { id, priority } of step.priorities) {
    requireNode(pending.branch.tree, id);
    emit(pending, {
      type: 'PriorityChanged',
      id,
      priority: priorityOf(priority, { code: 'E_POLICY_INVALID', what: id }),
    });
  }
};
