import { z } from 'zod';
import { positionOf, takeName } from '../decide/positions.ts';
import { checkName } from '../history-id.ts';
import { position } from './fields.ts';
import { defineStep } from './step.ts';

/**
 * Gives a position a name that is unique in the history (context-tree §5). The default is the branch's current position: after the
 * earlier steps of the command if they change the branch, else its tip before the command.
 */
export const name = defineStep({
  op: 'name',
  schema: z.strictObject({ op: z.literal('name'), name: z.string(), position: position.optional() }),
  on: 'its branch',
  request: { without: [] },
  kind: 'save',
  along: true,
  afterSnapshot: true,
  reference: { field: 'position', recorded: (events) => events('PositionNamed') },
  secrets: { name: 'name', position: 'none' },
  *decide(pending, step) {
    const taken = takeName(pending, checkName(step.name));
    yield { type: 'PositionNamed', name: taken, ...positionOf(pending, step.position) };
  },
});
