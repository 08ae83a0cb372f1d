import { compareCodePoints, isForbiddenKey, type WideJson } from '@stemma/canonical';
import {
  checkValue,
  idOf,
  isContentAttribute,
  requireReplaceable,
  type TreeNode,
} from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { z } from 'zod';
import { id, object } from './fields.ts';
import { defineStep } from './step.ts';

/**
 * Sets the given attributes of an open node: `content`, `content_*`, `data_*`; null sets an explicit null. Its other headers never
 * change (context-tree §2, §10.10).
 */
export const replace = defineStep({
  op: 'replace',
  schema: z.strictObject({ op: z.literal('replace'), id, set: object }),
  on: 'its branch',
  request: { without: [] },
  kind: 'edit',
  secrets: { id: 'name', set: 'attributes' },
  *decide(pending, step) {
    const node = requireReplaceable(pending.branch.tree, step.id);
    const fields = Object.keys(step.set).sort(compareCodePoints);
    if (fields.length === 0)
      throw fail('E_NODE_INVALID', `${step.id}: the command sets nothing`, { id: step.id });
    for (const field of fields) refuseField(node, field);
    const { payload: ref } = node.record;
    const payload: Record<string, WideJson> = { ...(ref === null ? {} : pending.sources.payload(ref)) };
    const blame = { code: 'E_NODE_INVALID', what: step.id } as const;
    for (const field of fields) payload[field] = checkValue(step.set[field] as WideJson, field, blame);
    yield { type: 'NodeReplaced', id: step.id, fields, payload };
  },
});

const refuseField = (node: TreeNode, field: string): void => {
  const nodeId = idOf(node);
  if (isForbiddenKey(field)) throw fail('E_INPUT_FORBIDDEN_KEY', `${nodeId}: ${field} is not an attribute`);
  if (field !== 'content' && !isContentAttribute(field))
    throw fail(
      'E_HEADER_IMMUTABLE',
      `${nodeId}: ${field} cannot be changed; only content, content_* and data_* can`,
      { id: nodeId, field },
    );
  if (field === 'content' && node.kids !== null)
    throw fail('E_NODE_INVALID', `${nodeId} is a container and cannot have content`, { id: nodeId });
};
