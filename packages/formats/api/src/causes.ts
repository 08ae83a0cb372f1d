import { z } from 'zod';
import { author, count, milliseconds } from './values.ts';

const MUTATIONS = {
  start: 'created with the history',
  insert: 'inserted',
  replace: 'replaced',
  move: 'moved',
  carry: 'moved',
  remove: 'removed',
  priority: 'given another priority',
} as const;
type Mutation = keyof typeof MUTATIONS;

/** What a mutation did to its node, in words: `inserted`. */
export const pastOf = (op: Mutation): string => MUTATIONS[op];

/** Why something about a node is other than one frame before (docs/causes.md). */
const Cause = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('mutation'),
      op: z.enum(Object.keys(MUTATIONS) as [Mutation, ...Mutation[]]),
      by: z.string().nullable().describe('the node that the command named, if this node was only inside it'),
    }),
    z.strictObject({ kind: z.literal('import') }),
    z.strictObject({ kind: z.literal('expiry') }),
    z.strictObject({
      kind: z.literal('cascade'),
      why: z.enum(['contained', 'emptied']),
      by: z.string(),
    }),
    z.strictObject({ kind: z.literal('pruning'), rule: z.literal('max_blocks'), rank: count }),
    z.strictObject({ kind: z.literal('ageing') }),
    z.strictObject({ kind: z.literal('sealing'), turn: z.string() }),
    z.strictObject({ kind: z.literal('hold'), by: z.string() }),
  ])
  .meta({ id: 'Cause' });

/** Something that happened to a node, and the frame that did it. */
export const TimelineEntry = z.strictObject({
  branchId: count,
  seq: count,
  index: count.describe('the event is the index-th of frame seq'),
  event: z.string(),
  cycle: count.describe('the open cycle; of a commit or import the cycle that it ended'),
  until: count
    .nullable()
    .describe('of ageing: the last of the consecutive cycles that each lowered ttl by one'),
  cause: Cause,
  command: z.string(),
  author,
  at: milliseconds,
  notes: z.string().nullable().describe('of an intervention: the notes of its actor'),
});
