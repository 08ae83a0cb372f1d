import type { ContentStore } from '@stemma/contents';
import type { EventLog } from '@stemma/log';
import type { Projection, Projector } from '@stemma/projector';
import type { DiskUsage } from './disk-usage.ts';
import type { LogAddress } from './open-log.ts';

/** What an operator's work on a home needs of it. */
export type Services = {
  readonly directory: string;
  readonly log: EventLog;
  readonly logAddress: LogAddress;
  readonly contents: ContentStore;
  /** The rows that are read. */
  readonly projection: Projection;
  /** Those who can build the rows anew, each a part of them. */
  readonly projectors: readonly Projector[];
  readonly usage: () => Promise<DiskUsage>;
  readonly clock: () => bigint;
  /** What was repaired since the home was opened, in sentences. */
  readonly repairs: readonly string[];
};
