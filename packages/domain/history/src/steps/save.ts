import { z } from 'zod';
import { freeName, positionOf, takeName } from '../decide/positions.ts';
import { checkName } from '../history-id.ts';
import { checkNotes } from '../texts.ts';
import { position } from './fields.ts';
import { defineStep } from './step.ts';

/** Saves a position with a description, under the given name or one made from its number. */
export const save = defineStep({
  op: 'save',
  schema: z.strictObject({
    op: z.literal('save'),
    name: z.string().optional(),
    description: z.string().optional(),
    position: position.optional(),
  }),
  on: 'its branch',
  request: { without: [] },
  kind: 'save',
  along: true,
  afterSnapshot: true,
  reference: {
    field: 'position',
    recorded: (events, { description = '' }) => {
      if (description !== '') events('PositionAnnotated');
      return events('PositionNamed');
    },
  },
  secrets: { name: 'name', description: { as: 'description' }, position: 'none' },
  *decide(pending, { name, description = '', position: given }) {
    const at = positionOf(pending, given);
    const taken = name === undefined ? freeName(pending, `s${at.seq}`) : checkName(name);
    yield { type: 'PositionNamed', name: takeName(pending, taken), ...at };
    if (description !== '')
      yield { type: 'PositionAnnotated', note: checkNotes(description, 'the description'), ...at };
  },
});
