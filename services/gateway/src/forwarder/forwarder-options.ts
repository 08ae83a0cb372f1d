import { z } from 'zod';
import { PROVIDER_NAMES } from '@stemma/model-apis/providers';

/** A running program: without `began` another one that has got its id counts, too. */
const RunningCommand = z.strictObject({ pid: z.number().int().positive(), began: z.string().nullable() });
export type RunningCommand = z.infer<typeof RunningCommand>;

/** All that a forwarder is told when it starts. */
export const ForwarderOptions = z.strictObject({
  /** The directory of the home, whose journal it writes. */
  directory: z.string(),
  /** Where the calls of each provider go. */
  upstreams: z.partialRecord(
    z.enum(PROVIDER_NAMES),
    z.url().transform((text) => new URL(text)),
  ),
  /** True: what is noted stays in memory, as rules take secrets out of what is recorded. */
  redacts: z.boolean(),
  /** A loopback address, and a port; 0: any that is free. */
  host: z.string(),
  port: z.number().int().min(0).max(65_535),
  /** Which calls observers may steer, as the log said when it had this version. */
  scopes: z.strictObject({
    scopes: z.strictObject({
      histories: z.array(z.string()).readonly(),
      scopes: z.array(z.string()).readonly(),
    }),
    version: z.string().nullable(),
  }),
  /** The command whose calls it forwards; null: it has not begun. */
  command: RunningCommand.nullable(),
  /** Why nothing is recorded now; null: it is. */
  away: z.string().nullable(),
});
export type ForwarderOptions = z.input<typeof ForwarderOptions>;
