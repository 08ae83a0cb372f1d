import { z } from 'zod';
import { PositionAnswer } from './summaries.ts';
import { author, count, milliseconds } from './values.ts';

/** The recorded fact that made something as it is, with the command that brought it. */
export const OriginAnswer = z
  .strictObject({
    seq: count,
    index: count.describe('the event is the index-th of frame seq'),
    event: z.string(),
    command: z.string(),
    author,
    at: milliseconds,
    branchId: count,
    cycle: count,
  })
  .meta({ id: 'Origin' });
export type OriginAnswer = z.infer<typeof OriginAnswer>;

/** Who made the bytes of a provider thread. The parts tile the bytes `from` … `to`; their texts in a row are those bytes. */
export const BlameAnswer = z
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
export type BlameAnswer = z.infer<typeof BlameAnswer>;
