import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import { openEmbeddedLog, openReadOnlyLog } from '@stemma/log-embedded';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderBeside } from './scratch-folders.ts';

/** The facts that brokers report about the topic of a log. */
export type LogTopic = {
  readonly topic: string;
  readonly brokers: number;
  /** The smallest number of replicas that a partition has. */
  readonly replicas: number;
  readonly inSync: number;
  readonly minInSync: number;
  readonly uncleanElection: boolean;
  /** The number of the topic's partitions. An operator may have added some since the log was made. */
  readonly partitions: number;
  readonly settings: Readonly<Record<string, string>>;
  /** Settings that would lose frames. */
  readonly faults: readonly string[];
};

/** The address of a log, for people. */
export type LogAddress = { readonly address: string; readonly facts: LogTopic | null };

/** The log of a home, and how the home must use it. */
export type OpenedLog = {
  readonly log: EventLog;
  readonly address: LogAddress;
  /** The folder of its rows. Each kind of log has its own, so that changing the kind keeps the rows of the other. */
  readonly rowsFolder: string;
  /** True if frames are stored among the rows too, because reading them from the log takes long. */
  readonly keepFrames: boolean;
  /** A home that can only be read: the folder outside of it for what is derived from its log. Removed when it is closed. */
  readonly beside?: string;
};

export type OpenLogOptions = {
  /** The directory of the home. */
  readonly directory: string;
  /** `kafka://HOST:PORT[,HOST:PORT]/PREFIX[?partitions=N]`; without one, the embedded log in the directory. */
  readonly address?: string;
  /** Makes the log and the home if there are none. */
  readonly create: boolean;
  /** True if the contents are not in the directory. Default false. */
  readonly shared?: boolean;
  /** Receives sentences about what was repaired while the log was opened. */
  readonly say?: (sentence: string) => void;
};

/**
 * Opens the log of a home.
 *
 * @throws E_HOME_NOT_FOUND; E_LOG_NOT_FOUND if the home is there and its topic is not; E_LOG_GONE; E_USAGE for an invalid
 *   address; what opening the log throws
 */
export const openHomeLog = async ({
  directory,
  address,
  create,
  shared = false,
  say,
}: OpenLogOptions): Promise<OpenedLog> => {
  refuseAddressAsDirectory(directory);
  if (address === undefined) {
    const folder = join(directory, 'log');
    const made = holdsFiles(folder);
    if (!made) refuseRowsWithoutLog(directory);
    if (!create && !made) throw noHome(directory);
    const why = made ? whyOnlyRead(folder) : undefined;
    if (why !== undefined) return openReadOnly(directory, folder, why, say);
    const log = await openEmbeddedLog({ directory: folder, ...(say && { say }) });
    return { log, address: { address: folder, facts: null }, rowsFolder: 'rows', keepFrames: false };
  }
  // Most homes do not use Kafka, and its client loads slowly.
  const { openKafkaLog, parseKafkaAddress } = await import('@stemma/log-kafka');
  const kafkaAddress = parseKafkaAddress(address);
  // The home holds the contents, without which the histories of the log cannot be shown. Its folders are made before the
  // topic: a service that finds the topic finds them too.
  const contents = join(directory, 'contents');
  if (create && !shared) mkdirSync(contents, { recursive: true, mode: 0o700 });
  if (!shared && !existsSync(directory)) throw noHome(directory);
  const log = await openKafkaLog({ ...kafkaAddress, create });
  if (!shared && !existsSync(contents)) {
    await log.close();
    throw noHome(directory);
  }
  return { log, address: { address, facts: log.facts }, rowsFolder: 'rows-kafka', keepFrames: true };
};

const holdsFiles = (folder: string): boolean => {
  try {
    return readdirSync(folder).length > 0;
  } catch (error) {
    const code = codeOf(error);
    // What is no folder is said by the log.
    if (code === 'ENOENT' || code === 'ENOTDIR') return code === 'ENOTDIR';
    throw fail('E_IO', `the home cannot be read: ${(error as Error).message}`);
  }
};

/** Why nothing can be written to a log, as the system says it; undefined if it can. */
const whyOnlyRead = (folder: string): string | undefined => {
  try {
    for (const path of [folder, join(folder, 'holder')])
      if (existsSync(path)) accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const code = codeOf(error) ?? '';
    return ['EROFS', 'EACCES', 'EPERM'].includes(code) ? code : undefined;
  }
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

/** The log of a home on a read-only medium, or of another user: rows are built outside of it. */
const openReadOnly = async (
  directory: string,
  folder: string,
  why: string,
  say: OpenLogOptions['say'],
): Promise<OpenedLog> => {
  const beside = makeFolderBeside();
  try {
    const opened = await openReadOnlyLog(folder, beside);
    say?.(
      `${directory} can only be read (${why}): its rows are built in a temporary folder, and nothing is recorded`,
    );
    const log = {
      ...opened,
      close: async () => {
        await opened.close();
        rmSync(beside, { recursive: true, force: true });
      },
    };
    return { log, address: { address: folder, facts: null }, rowsFolder: 'rows', keepFrames: false, beside };
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    throw error;
  }
};

/** Refuses a home that has rows but no log: its log was removed. @throws E_LOG_GONE */
const refuseRowsWithoutLog = (directory: string): void => {
  const rows = join(directory, 'rows');
  if (existsSync(rows) && readdirSync(rows).length > 0)
    throw fail(
      'E_LOG_GONE',
      `the log of ${directory} is gone: the folder log is missing or empty, but the folder rows was made of one`,
      { directory },
    );
};

/** Refuses a directory that is an address: a folder of that name would hold its password. @throws E_USAGE */
const refuseAddressAsDirectory = (directory: string): void => {
  const [, begin] = /(?:^|[/\\])([A-Za-z][A-Za-z0-9+.-]+:)[/\\]/.exec(directory) ?? [];
  if (begin !== undefined) throw fail('E_USAGE', `${begin}//… is an address, and a directory is needed here`);
};

const noHome = (directory: string): Error =>
  fail('E_HOME_NOT_FOUND', `there is no Stemma home in ${directory}`, { directory });
