import { z } from 'zod';
import { json, object } from './fields.ts';
import { retoldIn } from './retold.ts';
import { defineStep } from './step.ts';

/** Records that a model was asked about a position; nothing enters the branch, as the intervention records everything. */
export const query = defineStep({
  op: 'query',
  schema: z.strictObject({
    op: z.literal('query'),
    question: z.string(),
    answer: json,
    mind: z.string(),
    retold: object.optional(),
  }),
  on: 'its branch',
  request: { without: ['retold'] },
  kind: 'external_query',
  alone: true,
  byActor: true,
  told: (step) => ({
    question: step.question,
    answer: step.answer,
    mind: step.mind,
    ...retoldIn(step),
  }),
  secrets: {
    question: { as: 'question' },
    answer: { as: 'answer' },
    mind: { as: 'mind' },
    retold: { as: 'retold' },
  },
  decide: () => [],
});
