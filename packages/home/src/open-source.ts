import { openDirectoryContents, type ContentStore } from '@stemma/contents';
import type { EventLog } from '@stemma/log';
import { openLogOf, type LogAddress } from '@stemma/operations';
import { join, resolve } from 'node:path';
import { yieldingLog } from './yielding-log.ts';

export type SourceOptions = {
  /** A home. */
  readonly directory: string;
  /** `kafka://HOST:PORT/PREFIX`; default: the log in the directory. */
  readonly log?: string;
  /** `postgres://…`: where the contents are; default: in the directory. */
  readonly rows?: string;
};

/** A log and its contents, for services that make something of their own of it. */
export type Source = {
  readonly directory: string;
  readonly log: EventLog;
  readonly place: LogAddress;
  readonly contents: ContentStore;
  /** Payloads are better kept than read from the log again: it is far away. */
  readonly keepFrames: boolean;
  close(): Promise<void>;
};

/** @throws E_HOME_NOT_FOUND, E_LOG_NOT_FOUND, E_LOG_MISMATCH, E_LOG_BUSY, E_BROKERS_UNREACHABLE, E_USAGE, E_IO */
export const openSource = async (options: SourceOptions): Promise<Source> => {
  const directory = resolve(options.directory);
  const given = { directory, create: false, shared: options.rows !== undefined };
  const opened = await openLogOf(options.log === undefined ? given : { ...given, address: options.log });
  const contents = await contentsOf(directory, options.rows);
  return {
    directory,
    log: yieldingLog(opened.log, () => performance.now()),
    place: opened.place,
    contents,
    keepFrames: opened.keepFrames,
    close: async () => {
      await contents.close();
      await opened.log.close();
    },
  };
};

const contentsOf = async (directory: string, rows: string | undefined): Promise<ContentStore> => {
  if (rows === undefined) return openDirectoryContents(join(directory, 'contents'));
  const { openPostgresContents } = await import('@stemma/contents-postgres');
  return openPostgresContents(rows);
};
