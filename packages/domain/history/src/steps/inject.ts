import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { isSteered } from '../breakpoint.ts';
import { count, id, object } from './fields.ts';
import { insert } from './insert.ts';
import { retoldIn } from './retold.ts';
import { defineStep } from './step.ts';

/** The source of an injected message when the command gives none. */
const MANUAL = 'manual';

/** The roles of messages in which an observer may speak: any other is one that no model's API takes. */
export const INJECTED_ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

/** @throws E_ROLE_UNKNOWN for a role that no API of models has */
export const checkInjectedRole = (role: string): void => {
  if (!INJECTED_ROLES.some((each) => each === role))
    throw fail('E_ROLE_UNKNOWN', `no model takes a message of the role ${JSON.stringify(role.slice(0, 60))}`);
};

/**
 * Inserts an observer's message into the open cycle as a block that records its origin: `data_source`, `data_intervention` (pool:
 * Interventions, One model).
 *
 * @throws E_ROLE_UNKNOWN for a role that no API of models has
 */
export const inject = defineStep({
  op: 'inject',
  schema: z.strictObject({
    op: z.literal('inject'),
    text: z.string(),
    /** Source of the message; default `manual`. */
    source: z.string().optional(),
    id: id.optional(),
    /** Default `^ah`. */
    parent: id.optional(),
    /** Default 0, and 1 where calls are steered. */
    offset: z.int().optional(),
    role: z.string().optional(),
    kind: z.string().optional(),
    ttl: count.nullable().optional(),
    vector_id: count.optional(),
    retold: object.optional(),
  }),
  on: 'its branch',
  request: { without: ['retold'] },
  kind: 'message_inject',
  once: 'a command can inject only one message',
  byActor: true,
  told: retoldIn,
  secrets: {
    id: 'name',
    parent: 'name',
    role: 'name',
    kind: 'name',
    text: { as: 'content', node: 0 },
    source: { as: 'data_source', node: 0 },
    retold: { as: 'retold', node: 0 },
    offset: 'none',
    ttl: 'none',
    vector_id: 'none',
  },
  decide(pending, step) {
    const { id: given, role, ttl, vector_id, parent = '^ah' } = step;
    if (role !== undefined) checkInjectedRole(role);
    // Where calls are steered it is no core: a core could not be removed any more.
    const { offset = isSteered(pending.branch.config) ? 1 : 0, kind = 'text', source = MANUAL } = step;
    const node: { [name: string]: WideJson } = {
      ...defined({ id: given }),
      nodeType: 'cb',
      offset,
      ...defined({ ttl, role }),
      kind,
      content: step.text,
      data_source: source,
      data_intervention: pending.command,
      ...defined({ data_vector_id: vector_id }),
    };
    return insert.decide(pending, { op: 'insert', parent, node });
  },
});
