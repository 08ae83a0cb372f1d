import { z } from 'zod';
import { OriginAnswer } from '../blame.ts';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { count, historyParams, reference } from '../values.ts';

/** Who made the bytes of a provider thread. The parts tile the bytes `from` … `to`; their texts in a row are those bytes. */
const BlameAnswer = z
  .strictObject({
    position: PositionAnswer,
    bytes: count.describe('of the whole thread'),
    from: count,
    to: count,
    origins: z.array(OriginAnswer),
    parts: z.array(
      z.strictObject({
        part: z.enum(['array', 'separator', 'syntax', 'content', 'id', 'kind', 'role']),
        from: count,
        to: count,
        node: z
          .string()
          .nullable()
          .describe('null for the brackets of the list and the commas between messages'),
        origin: count.nullable().describe('an index of origins'),
        text: z.string(),
      }),
    ),
  })
  .meta({ id: 'Blame' });

export const blame = {
  name: 'blame',
  method: 'GET',
  path: '/api/histories/{history}/blame',
  summary: 'Returns who wrote each byte of the provider thread at a position: node, event, command, author.',
  params: historyParams,
  query: z.strictObject({
    at: reference.optional(),
    bytes: z
      .string()
      .max(40)
      .optional()
      .describe('120-480 for the bytes 120 to 479, 120- for all from 120 (default: the whole thread)'),
  }),
  answer: { kind: 'json', status: 200, schema: BlameAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
