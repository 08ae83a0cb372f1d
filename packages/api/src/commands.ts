import { z } from 'zod';
import { LoggedEvent } from './logged.ts';
import { Position } from './summaries.ts';
import { anyJson, count } from './values.ts';

const object = z.record(z.string(), anyJson);
const id = z.string().min(1);
const position = z.strictObject({ strand: count, seq: count });

/** What may be done to a lineage over HTTP, in the words of docs/formats/. */
export const Step = z
  .discriminatedUnion('op', [
    z.strictObject({ op: z.literal('insert'), parent: id.describe('an id, ^ah or ^sys'), node: object }),
    z.strictObject({ op: z.literal('replace'), id, set: object }),
    z.strictObject({ op: z.literal('move'), id, parent: id }),
    z.strictObject({ op: z.literal('remove'), id }),
    z.strictObject({ op: z.literal('commit'), turn_id: id.optional() }),
    z.strictObject({ op: z.literal('name'), name: z.string(), position: position.optional() }),
    z.strictObject({ op: z.literal('annotate'), note: z.string(), position: position.optional() }),
  ])
  .meta({ id: 'Step' });
export type Step = z.infer<typeof Step>;

const commandId = z
  .string()
  .min(1)
  .max(256)
  .describe('made by the client: sent again with the same content, it has one effect and the same answer');

/** Steps in order, all or none. */
export const CommandRequest = z
  .strictObject({
    id: commandId,
    recorder: z.string().min(1).max(256).describe('who records: the agent or program whose context this is'),
    expected: count
      .optional()
      .describe('refuse with E_CONFLICT unless the newest frame of the lineage is this one'),
    steps: z.array(Step).min(1).max(100_000),
  })
  .meta({ id: 'CommandRequest' });
export type CommandRequest = z.infer<typeof CommandRequest>;

/** An empty history. Its id derives from its name, or, without one, from the command's id. */
export const StartRequest = z
  .strictObject({
    id: commandId,
    recorder: z.string().min(1).max(256),
    name: z.string().nullable().optional(),
    thread: z
      .enum(['full', 'pre'])
      .optional()
      .describe('what the provider thread takes of the tree; full unless said'),
  })
  .meta({ id: 'StartRequest' });
export type StartRequest = z.infer<typeof StartRequest>;

/** What became of a command. `repeated`: it had been accepted before, and nothing was written now. */
export const CommandAnswer = z
  .strictObject({ position: Position, repeated: z.boolean(), events: z.array(LoggedEvent.shape.event) })
  .meta({ id: 'CommandAnswer' });
export type CommandAnswer = z.infer<typeof CommandAnswer>;
