import { z } from 'zod';
import { positionOf } from '../decide/positions.ts';
import { checkNotes } from '../texts.ts';
import { position } from './fields.ts';
import { defineStep } from './step.ts';

/** A position gets a note; the default is as for `name`. */
export const annotate = defineStep({
  op: 'annotate',
  schema: z.strictObject({ op: z.literal('annotate'), note: z.string(), position: position.optional() }),
  on: 'its branch',
  request: { without: [] },
  kind: 'annotate',
  along: true,
  afterSnapshot: true,
  reference: { field: 'position', recorded: (events) => events('PositionAnnotated') },
  secrets: { note: { as: 'note' }, position: 'none' },
  *decide(pending, step) {
    const at = positionOf(pending, step.position);
    yield { type: 'PositionAnnotated', note: checkNotes(step.note, 'the note'), ...at };
  },
});
