import {
  eachInSubtree,
  expiryOnEntry,
  headersOf,
  idOf,
  isInSys,
  requireMovable,
  type NodeRecord,
} from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { z } from 'zod';
import { isSysSide, parentOf } from '../decide/pending-frame.ts';
import { id, json } from './fields.ts';
import { defineStep } from './step.ts';

/**
 * Moves an open node with its children (context-tree §3); a node that leaves `^sys` starts to age. An `offset` is refused with
 * E_HEADER_IMMUTABLE: to change it, remove and insert (PACT 05 §4.5).
 */
export const move = defineStep({
  op: 'move',
  schema: z.strictObject({ op: z.literal('move'), id, parent: id, offset: json.optional() }),
  on: 'its branch',
  request: { without: ['offset'] },
  kind: 'edit',
  secrets: { id: 'name', parent: 'name', offset: 'none' },
  *decide(pending, step) {
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
    yield { type: 'NodeMoved', id: step.id, parent: idOf(parent), expires };
  },
});
