import type { ContentStore } from '@stemma/contents';
import type { EventLog } from '@stemma/log';
import type { Keyring } from '@stemma/privacy';
import type { Projection, Projector } from '@stemma/projector';
import type { DiskUsage } from './disk-usage.ts';
import type { LogAddress } from './open-log.ts';

/** The parts of a home that these operations use. */
export type Services = {
  readonly directory: string;
  /** Where rows that are made to be compared are put. Default: in the directory. */
  readonly beside?: string;
  readonly log: EventLog;
  readonly logAddress: LogAddress;
  readonly contents: ContentStore;
  /** The rows, for reading. */
  readonly projection: Projection;
  /** The projectors that can rebuild the rows, one for each group of read models. */
  readonly projectors: readonly Projector[];
  readonly usage: () => Promise<DiskUsage>;
  readonly clock: () => bigint;
  /** Sentences about what was repaired since the home was opened. */
  readonly repairs: readonly string[];
  readonly keyring: Keyring;
};
