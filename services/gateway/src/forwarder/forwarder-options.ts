import { z } from 'zod';
import { PROVIDER_NAMES } from '@stemma/model-apis/providers';
import { AskedScope } from '../proxy/entry.ts';

/** A running program: without `began` another one that has got its id counts, too. */
const RunningCommand = z.strictObject({ pid: z.number().int().positive(), began: z.string().nullable() });
export type RunningCommand = z.infer<typeof RunningCommand>;

const Address = z.url().transform((text) => new URL(text));
const Addresses = z.partialRecord(z.enum(PROVIDER_NAMES), Address);

/** What is read where it passes; see `InterceptOptions`. */
const Intercepted = z.strictObject({
  hosts: z.array(z.string()).readonly(),
  addresses: z.array(z.string()).readonly(),
  upstreams: Addresses,
  elsewhere: z.record(z.string(), Address),
  recordedIn: z.strictObject({ place: AskedScope, run: z.string().nullable() }),
  authority: z.strictObject({ certificate: z.string(), key: z.string() }),
});

/** All that a forwarder is told when it starts. */
export const ForwarderOptions = z.strictObject({
  /** The directory of the home, whose journal it writes. */
  directory: z.string(),
  /** Where the calls of each provider go. */
  upstreams: Addresses,
  /** Null: the command is told addresses instead. */
  intercept: Intercepted.nullable(),
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
