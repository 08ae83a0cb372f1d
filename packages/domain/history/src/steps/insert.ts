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
import type { HistoryEvent } from '@stemma/events';
import { z } from 'zod';
import { isSysSide, newId, nodeIdAt, parentOf, timeOf, type PendingFrame } from '../decide/pending-frame.ts';
import { joinNode } from '../recorded-node.ts';
import { id, nanoseconds, object } from './fields.ts';
import { defineStep } from './step.ts';

/** Headers that the decision makes (context-tree §2). */
const MADE = ['cycle', 'created_at_ns', 'created_at_iso', 'creation_index', 'content_hash'] as const;

/**
 * Inserts a node with its children (`children`, containers only), one event per node, containers first (context-tree §3, §10.2, §10.6,
 * §10.16). `parent` is an id, or one of the words `^sys` and `^ah`. A node without an `id` gets one made from its position. `at_ns`
 * (imports only) replaces the clock's time: the node gets max(at_ns, newest + 1).
 */
export const insert = defineStep({
  op: 'insert',
  schema: z.strictObject({
    op: z.literal('insert'),
    parent: id.describe('an id, ^ah or ^sys'),
    node: object,
    /**
     * Further nodes for the same parent, inserted right after it with the same time: the pieces of one message
     * (context-tree §9).
     */
    siblings: z.array(object).optional(),
    at_ns: nanoseconds.optional(),
  }),
  on: 'its branch',
  request: { without: ['siblings', 'at_ns'] },
  kind: 'edit',
  secrets: { parent: 'name', node: 'subtree', siblings: 'subtree', at_ns: 'none' },
  *decide(pending, step) {
    const parent = parentOf(pending, step.parent);
    const time = timeOf(pending, step.at_ns);
    for (const node of [step.node, ...(step.siblings ?? [])]) yield* insertBelow(pending, parent, node, time);
  },
});

function* insertBelow(
  pending: PendingFrame,
  parent: TreeNode,
  value: WideJson,
  time: bigint,
): Iterable<HistoryEvent> {
  const { branch } = pending;
  const input = parseNodeInput(value, { code: 'E_NODE_INVALID', what: 'the node to insert' });
  refuseMade(value as { readonly [name: string]: WideJson }, input);
  const index = branch.nextIndex;
  const cycle = branch.tree.open;
  const kind = kindOfType(input.headers.nodeType);
  refuseInsert(parent, { id: input.id ?? 'the node', kind, offset: input.headers.offset });
  const made = newId(pending, input.id, nodeIdAt(branch.branchId, cycle, index));
  const headers: Headers = {
    ...input.headers,
    id: made,
    cycle,
    created_at_ns: time,
    creation_index: index,
  };
  const expires = expiryOnEntry(headers.ttl, cycle, isSysSide(pending, parent));
  yield {
    type: 'NodeInserted',
    parent: parent.record.headers.id,
    node: joinNode(headers, input.payload),
    expires,
  };
  const node = requireNode(branch.tree, made);
  for (const child of input.children) yield* insertBelow(pending, node, child, time);
}

const refuseMade = (value: { readonly [name: string]: WideJson }, input: NodeInput): void => {
  const made = MADE.find((name) => value[name] !== undefined);
  if (made !== undefined)
    throw fail('E_NODE_INVALID', `${input.id ?? 'the node'}: Stemma sets ${made}: leave it out`, {
      field: made,
    });
};
