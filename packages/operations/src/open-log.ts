import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What the brokers say of the topic that holds a log. */
export type LogTopic = {
  readonly topic: string;
  readonly brokers: number;
  /** The fewest that a partition has. */
  readonly replicas: number;
  readonly inSync: number;
  readonly minInSync: number;
  readonly uncleanElection: boolean;
  /** How many the topic has: an operator may have given it more than the log was made with. */
  readonly partitions: number;
  readonly settings: Readonly<Record<string, string>>;
  /** Settings that would lose frames. */
  readonly faults: readonly string[];
};

/** Where a log is, for people. */
export type LogAddress = { readonly address: string; readonly facts: LogTopic | null };

/** The log of a home, and what the home does differently for it. */
export type OpenedLog = {
  readonly log: EventLog;
  readonly address: LogAddress;
  /** The folder of its rows: those of another kind of log stay what they are. */
  readonly rowsFolder: string;
  /** Payloads are read from the rows: the log is far away. */
  readonly keepFrames: boolean;
};

export type OpenLogOptions = {
  /** Of the home. */
  readonly directory: string;
  /** `kafka://HOST:PORT[,HOST:PORT]/PREFIX[?partitions=N]`; without one, the embedded log in the directory. */
  readonly address?: string;
  /** Make log and home if they are not there. */
  readonly create: boolean;
  /** Contents are elsewhere. Default false. */
  readonly shared?: boolean;
  /** Told what was repaired while it was opened, in sentences. */
  readonly say?: (sentence: string) => void;
};

/** @throws E_HOME_NOT_FOUND, E_LOG_GONE, E_USAGE for an address that is none, and what opening the log throws */
export const openHomeLog = async ({
  directory,
  address,
  create,
  shared = false,
  say,
}: OpenLogOptions): Promise<OpenedLog> => {
  if (address === undefined) {
    const folder = join(directory, 'log');
    const made = existsSync(folder) && readdirSync(folder).length > 0;
    if (!made) refuseRowsWithoutLog(directory);
    if (!create && !made) throw noHome(directory);
    const log = await openEmbeddedLog({ directory: folder, ...(say && { say }) });
    return { log, address: { address: folder, facts: null }, rowsFolder: 'rows', keepFrames: false };
  }
  // Most homes never need it, and the client takes a while to load.
  const { openKafkaLog, parseKafkaAddress } = await import('@stemma/log-kafka');
  const kafkaAddress = parseKafkaAddress(address);
  // Contents stand in the home: without it, histories of the log could not be shown.
  if (!create && !shared && !existsSync(join(directory, 'contents'))) throw noHome(directory);
  const log = await openKafkaLog({ ...kafkaAddress, create });
  return { log, address: { address, facts: log.facts }, rowsFolder: 'rows-kafka', keepFrames: true };
};

/** Rows are made of a log: where they are, there was one. @throws E_LOG_GONE */
const refuseRowsWithoutLog = (directory: string): void => {
  const rows = join(directory, 'rows');
  if (existsSync(rows) && readdirSync(rows).length > 0)
    throw fail(
      'E_LOG_GONE',
      `the log of ${directory} is gone: the folder log is missing or empty, but the folder rows was made of one`,
      { directory },
    );
};

const noHome = (directory: string): Error =>
  fail('E_HOME_NOT_FOUND', `there is no Stemma home in ${directory}`, { directory });
