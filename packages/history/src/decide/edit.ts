import {
  checkValue,
  eachInSubtree,
  existing,
  expiryOnEntry,
  headersOf,
  idOf,
  isContentAttribute,
  liesInSys,
  movable,
  priorityOf,
  removable,
  replaceable,
  type NodeRecord,
  type TreeNode,
} from '@stemma/context-tree';
import { compareCodePoints, isForbiddenKey, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { StepOf } from '../command.ts';
import { emit, isSysSide, type Draft } from './draft.ts';
import { parentOf } from './insert.ts';

/** Content and attributes of an open node change; no other header ever does (context-tree §2, §10.10). */
export const decideReplace = (draft: Draft, step: StepOf<'replace'>): void => {
  const node = replaceable(draft.lineage.tree, step.id);
  const fields = Object.keys(step.set).sort(compareCodePoints);
  if (fields.length === 0) throw fail('E_NODE_INVALID', `${step.id}: nothing is set`, { id: step.id });
  for (const field of fields) refuseField(node, field);
  const { payload: ref } = node.record;
  const payload: Record<string, WideJson> = { ...(ref === null ? {} : draft.sources.payload(ref)) };
  const blame = { code: 'E_NODE_INVALID', what: step.id } as const;
  for (const field of fields) payload[field] = checkValue(step.set[field] as WideJson, field, blame);
  emit(draft, {
    type: 'NodeReplaced',
    id: step.id,
    fields,
    payload,
  });
};

const refuseField = (node: TreeNode, field: string): void => {
  const id = idOf(node);
  if (isForbiddenKey(field)) throw fail('E_INPUT_FORBIDDEN_KEY', `${id}: ${field} is no attribute`);
  if (field !== 'content' && !isContentAttribute(field))
    throw fail('E_HEADER_IMMUTABLE', `${id}: ${field} never changes; content, content_* and data_* do`, {
      id,
      field,
    });
  if (field === 'content' && node.kids !== null)
    throw fail('E_NODE_INVALID', `${id} is a container: it has no content`, { id });
};

/** A node with what it holds lies elsewhere, inside what is open (context-tree §3); leaving `^sys` starts its ageing. */
export const decideMove = (draft: Draft, step: StepOf<'move'>): void => {
  const { tree } = draft.lineage;
  if (step.offset !== undefined)
    throw fail('E_HEADER_IMMUTABLE', `${step.id}: a move keeps the offset`, { id: step.id, field: 'offset' });
  const target = parentOf(draft, step.parent);
  const { node, parent } = movable(tree, step.id, idOf(target));
  const expires: { id: string; expires: number | null }[] = [];
  const toSys = isSysSide(draft, parent);
  if (liesInSys(node) !== toSys)
    eachInSubtree(node, (each) => {
      const next = expiryOnEntry(headersOf(each).ttl, tree.open, toSys);
      if (next !== (each.record as NodeRecord).expires) expires.push({ id: idOf(each), expires: next });
    });
  emit(draft, { type: 'NodeMoved', id: step.id, parent: idOf(parent), expires });
};

/** A node goes by hand, with all it holds (context-tree §3, §10.16, §10.18). */
export const decideRemove = (draft: Draft, step: StepOf<'remove'>): void => {
  const { subtree } = removable(draft.lineage.tree, step.id);
  emit(draft, { type: 'NodeRemoved', id: step.id, subtree: [...subtree] });
};

/** The policy gives nodes other priorities, any nodes (context-tree §10.15). */
export const decidePriorities = (draft: Draft, step: StepOf<'priorities'>): void => {
  for (const { id, priority } of step.priorities) {
    existing(draft.lineage.tree, id);
    emit(draft, {
      type: 'PriorityChanged',
      id,
      priority: priorityOf(priority, { code: 'E_POLICY_INVALID', what: id }),
    });
  }
};
