import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { isSteered } from '../breakpoint.ts';
import type { StepOf } from '../command.ts';
import { decideInsert } from './insert.ts';
import type { PendingFrame } from './pending-frame.ts';

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
 * Inserts an observer's message as a block that records its origin: `data_source`, `data_intervention` (pool: One
 * model).
 *
 * @throws E_ROLE_UNKNOWN for a role that no API of models has
 */
export const decideInject = (pending: PendingFrame, step: StepOf<'inject'>): void => {
  const { id, role, ttl, vector_id, parent = '^ah' } = step;
  if (role !== undefined) checkInjectedRole(role);
  // Where calls are steered it is no core: a core could not be removed any more.
  const { offset = isSteered(pending.branch.config) ? 1 : 0, kind = 'text', source = MANUAL } = step;
  const node: { [name: string]: WideJson } = {
    ...(id === undefined ? {} : { id }),
    nodeType: 'cb',
    offset,
    ...(ttl === undefined ? {} : { ttl }),
    ...(role === undefined ? {} : { role }),
    kind,
    content: step.text,
    data_source: source,
    data_intervention: pending.command,
    ...(vector_id === undefined ? {} : { data_vector_id: vector_id }),
  };
  decideInsert(pending, { op: 'insert', parent, node });
};
