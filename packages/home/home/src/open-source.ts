import { openDirectoryContents, type ContentStore } from '@stemma/contents';
import type { EventLog } from '@stemma/log';
import { openCooperative, openHomeLog, type LogAddress } from '@stemma/operations';
import { join, resolve } from 'node:path';

export type LogSourceOptions = {
  /** A home. */
  readonly directory: string;
  /** `kafka://HOST:PORT/PREFIX`; default: the log in the directory. */
  readonly log?: string;
  /** `postgres://…`: where the contents are; default: in the directory. */
  readonly rows?: string;
};

/** A log and its contents, for services that make something of their own of it. */
export type LogSource = {
  readonly directory: string;
  readonly log: EventLog;
  readonly address: LogAddress;
  readonly contents: ContentStore;
  /** Payloads are better kept than read from the log again: it is far away. */
  readonly keepFrames: boolean;
  close(): Promise<void>;
};

/** @throws E_HOME_NOT_FOUND, E_LOG_NOT_FOUND, E_LOG_MISMATCH, E_LOG_BUSY, E_BROKERS_UNREACHABLE, E_USAGE, E_IO */
export const openLogSource = async (options: LogSourceOptions): Promise<LogSource> => {
  const directory = resolve(options.directory);
  const logOptions = { directory, create: false, shared: options.rows !== undefined };
  const opened = await openHomeLog(
    options.log === undefined ? logOptions : { ...logOptions, address: options.log },
  );
  const contents = await openContents(directory, options.rows);
  return {
    directory,
    log: openCooperative(() => performance.now()).reader(opened.log),
    address: opened.address,
    contents,
    keepFrames: opened.keepFrames,
    close: async () => {
      await contents.close();
      await opened.log.close();
    },
  };
};

const openContents = async (directory: string, rows: string | undefined): Promise<ContentStore> => {
  if (rows === undefined) return openDirectoryContents(join(directory, 'contents'));
  const { openPostgresContents } = await import('@stemma/postgres');
  return openPostgresContents(rows);
};
