import { canonicalJson, type WideJson } from '@stemma/canonical';
import type { RequestChange } from '@stemma/model-apis';
import { z } from 'zod';
import { cutText } from './excerpt.ts';

const MOST_CHARACTERS = 500;

const text = z.string().nullable();

/** A tool or a parameter that differs between the requests of two calls. */
export const RequestChangeAnswer = z
  .strictObject({
    what: z.enum(['tool', 'parameter']),
    name: z.string(),
    change: z
      .enum(['added', 'removed', 'changed', 'moved'])
      .describe('moved: the tool is at another place among those that both requests have'),
    fields: z.array(
      z.strictObject({
        path: z
          .string()
          .describe('what of it: description, parameters.properties.city.type, …; empty: all of it'),
        before: text.describe('its text, or its JSON, at most 500 characters; null: it was not there'),
        after: text,
      }),
    ),
  })
  .meta({ id: 'RequestChange' });
export type RequestChangeAnswer = z.infer<typeof RequestChangeAnswer>;

/** The beginning of a value: its text, or its JSON; null: there is none. */
export const valueText = (value: WideJson | undefined): string | null =>
  value === undefined
    ? null
    : cutText(typeof value === 'string' ? value : canonicalJson(value), MOST_CHARACTERS);

export const requestChangeAnswer = ({ fields, ...change }: RequestChange): RequestChangeAnswer => ({
  ...change,
  fields: fields.map(({ path, before, after }) => ({
    path,
    before: valueText(before),
    after: valueText(after),
  })),
});
