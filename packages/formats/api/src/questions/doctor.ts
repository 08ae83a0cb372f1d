import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, milliseconds } from '../values.ts';

/** What state the log and the rows are in, and what should be looked at. */
export const Doctor = z
  .strictObject({
    versions: z.strictObject({
      stemma: z.string(),
      node: z.string().describe('Node.js'),
      frames: count.describe('the newest version of frames that it writes to the log'),
      rows: z.array(z.string()).describe('the read models of each group of rows, with their versions'),
    }),
    log: z.strictObject({ address: z.string(), id: z.string(), partitions: count }),
    keepsItsEnd: z
      .boolean()
      .describe('whether acknowledged frames survive a power failure and the loss of one broker'),
    topic: z
      .strictObject({
        topic: z.string(),
        brokers: count,
        replicas: count,
        inSync: count,
        minInSync: count,
        uncleanElection: z.boolean(),
        settings: z.record(z.string(), z.string()),
        faults: z.array(z.string()),
      })
      .nullable()
      .describe('of a log on Kafka, as the brokers describe it'),
    partitions: z.array(
      z.strictObject({
        partition: count,
        start: count,
        end: count,
        rows: count,
        lag: count,
        accepted: count,
        stale: z.record(z.string(), count),
        damaged: count,
        closed: z.boolean(),
      }),
    ),
    histories: count,
    stopped: z.array(z.string()).describe('histories that are damaged or defective'),
    altered: z
      .array(z.strictObject({ partition: count, offset: count, history: z.string().nullable() }))
      .describe('records that were damaged after rows had been made of them; `history` null: unknown'),
    clock: z.strictObject({ now: milliseconds, newest: milliseconds.nullable() }),
    findings: z.array(z.strictObject({ level: z.enum(['note', 'warning', 'error']), message: z.string() })),
  })
  .meta({ id: 'Doctor' });

export type Doctor = z.infer<typeof Doctor>;

export const doctor = {
  name: 'doctor',
  method: 'GET',
  path: '/api/doctor',
  summary: 'Checks the log and the rows and lists findings.',
  answer: { kind: 'json', status: 200, schema: Doctor },
  errors: ['E_BROKERS_UNREACHABLE'],
  heavy: true,
  tellsOfRows: true,
} as const satisfies Question;
