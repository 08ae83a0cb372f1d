import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, milliseconds, optionalWhole } from '../values.ts';

/** By what the rows are ordered. */
export const OVERVIEW_ORDERS = [
  'updated',
  'started',
  'name',
  'calls',
  'tools',
  'failed',
  'errors',
  'tokens',
  'cost',
  'branches',
  'interventions',
  'held',
] as const;

const price = z.strictObject({ amount: z.string(), currency: z.string() });

/** A history as a row of a table. */
export const OverviewRow = z
  .strictObject({
    history: z.string(),
    name: z.string().nullable(),
    preview: z.string().nullable().describe('the first words of the first user message'),
    state: z.enum(['open', 'damaged', 'defective']),
    startedAt: milliseconds,
    updatedAt: milliseconds,
    format: z.string().nullable().describe('of the file that it was imported from'),
    labels: z.record(z.string(), z.string()),
    group: z.string().nullable().describe('what it is grouped by; null: it has nothing to be grouped by'),
    branches: count,
    calls: count.describe('of all branches, each once'),
    errors: count.describe('calls that failed or timed out'),
    models: z.array(z.string()),
    tools: z.array(z.strictObject({ name: z.string(), calls: count, failed: count })),
    called: count.describe('calls of tools'),
    failed: count.describe('calls of tools whose result says that it failed'),
    failures: z
      .array(z.strictObject({ name: z.string(), branchId: count, seq: count, label: z.string() }))
      .describe(
        'the calls that asked for tools which failed, at most the first 20; with tool: in the query, those tools',
      ),
    tokens: count.describe('that all calls were shown'),
    cost: price.nullable().describe('of calls that the price table of the home knows; null: of none'),
    unpriced: count.describe('answered calls that it does not know'),
    shape: z
      .string()
      .describe(
        'a character a call of `main`: a answered, t called tools, f a tool or the call failed, - unknown; at most the first 400',
      ),
    ended: z.string().nullable().describe('what `main` decided last: `answer`, or the tools'),
    parts: z
      .strictObject({
        label: z.string(),
        here: z.string(),
        there: z.string(),
      })
      .nullable()
      .describe(
        'the first call of `main` that decides otherwise than the first history of its group, by the names of tools; `(ended)`: it has no such call. Null: none does, or it is the first',
      ),
    isFirst: z.boolean().describe('true: it is the one of its group that the others are compared with'),
    interventions: count.describe('without notes and saved positions'),
    held: count,
    end: z
      .strictObject({ exitCode: z.int().nullable(), signal: z.string().nullable() })
      .nullable()
      .describe('how the newest recorded program ended; null: none is recorded'),
  })
  .meta({ id: 'OverviewRow' });
export type OverviewRow = z.infer<typeof OverviewRow>;

const OverviewFacet = z
  .strictObject({
    field: z.string().describe('a field of the language: tool'),
    values: z.array(z.strictObject({ value: z.string(), count, filter: z.string() })),
  })
  .meta({ id: 'OverviewFacet' });

export const overview = {
  name: 'overview',
  method: 'GET',
  path: '/api/overview',
  summary:
    'Lists histories as a table: calls, models, tools and failures, tokens, cost, branches, interventions; filtered, ordered, grouped, with what there is to filter by.',
  query: z.strictObject({
    q: z
      .string()
      .max(1_000)
      .optional()
      .describe(
        'filters, words of the name, "texts in it": tool:refund failed:true calls:>10 since:7d "visa"',
      ),
    sort: z
      .string()
      .regex(new RegExp(`^-?(?:${OVERVIEW_ORDERS.join('|')})$`))
      .optional()
      .describe(`${OVERVIEW_ORDERS.join(', ')}; with - before it the largest first (default: -updated)`),
    group: z
      .string()
      .regex(/^(?:none|task|beginning|label:.{1,128})$/)
      .optional()
      .describe(
        'task: the label task, else the name without the number of a trial, else the beginning; beginning: those whose first call was shown the same; label:KEY; none (default)',
      ),
    of: z
      .string()
      .max(10_000)
      .optional()
      .describe('only these histories, by id, with commas between; the others are compared with the first'),
    facets: z.enum(['true', 'false']).optional().describe('true: count what all that match have'),
    skip: optionalWhole('the number of rows to skip first (default: 0)'),
    limit: optionalWhole('the most rows to return, at most 500 (default: 100)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        total: count.describe('all that match'),
        all: count.describe('all histories'),
        rows: z.array(OverviewRow),
        facets: z.array(OverviewFacet),
      })
      .meta({ id: 'Overview' }),
  },
  errors: ['E_SEARCH_INVALID', 'E_SEARCH_BUSY'],
  heavy: true,
} as const satisfies Question;
