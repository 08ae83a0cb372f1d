import type { WideJson } from '@stemma/canonical';
import { isSteered } from '../breakpoint.ts';
import type { StepOf } from '../command.ts';
import { decideInsert } from './insert.ts';
import type { PendingFrame } from './pending-frame.ts';

/** The source of an injected message when the command gives none. */
const MANUAL = 'manual';

/**
 * Inserts an observer's message as a block that records its origin: `data_source`, `data_intervention` (pool: One
 * model).
 */
export const decideInject = (pending: PendingFrame, step: StepOf<'inject'>): void => {
  const { id, role, ttl, vector_id, parent = '^ah' } = step;
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
