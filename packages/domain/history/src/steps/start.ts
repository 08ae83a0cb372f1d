import { checkId, completeIds, type FixedIds } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { checkName } from '../history-id.ts';
import { erasable, id, source } from './fields.ts';
import { defineStep } from './step.ts';

const schema = z.strictObject({
  op: z.literal('start'),
  name: z.string().nullable(),
  ids: z
    .strictObject({ root: id.optional(), sys: id.optional(), seq: id.optional(), ah: id.optional() })
    .optional(),
  thread: z.enum(['full', 'pre']).optional(),
  source: source.nullable().optional(),
  erasable: erasable.optional(),
});

/**
 * Starts a history: an empty tree. Regions without a given id are called `root`, `sys`, `seq`, `ah` (context-tree
 * §10.19).
 *
 * @throws E_NAME_INVALID, E_COMMAND_INVALID
 */
export const start = defineStep({
  op: 'start',
  schema,
  on: 'the start',
  kind: 'edit',
  secrets: {
    name: 'name',
    ids: { names: 'the id of a region', of: (ids) => Object.values(ids).flatMap((each) => each ?? []) },
    thread: 'none',
    source: 'none',
    erasable: 'none',
  },
  *decide(_pending, step) {
    yield {
      type: 'HistoryStarted',
      name: step.name === null ? null : checkName(step.name),
      ids: idsOf(step),
      thread: step.thread ?? 'full',
      cycle: 0,
      source: step.source ?? null,
      salvaged: null,
      ...defined({ erasable: step.erasable }),
    };
  },
});

const idsOf = ({ ids = {} }: z.infer<typeof schema>): FixedIds => {
  const blame = { code: 'E_COMMAND_INVALID', what: 'the id of a region' } as const;
  for (const each of Object.values(ids)) checkId(each, blame);
  if (new Set(Object.values(ids)).size < Object.values(ids).length)
    throw fail('E_COMMAND_INVALID', 'root and regions must have different ids');
  return completeIds(ids as Partial<FixedIds>, () => false);
};
