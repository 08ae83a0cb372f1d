import { open } from 'lmdb';
import { join } from 'node:path';
import { filesOfFolder, type LmdbFiles } from './lmdb-files.ts';

/** A gate that one thread of one process at a time passes, even if another is killed inside; see {@link openGate}. */
export type Gate = {
  /** Runs `fn` when nobody else is inside. The process waits, without a limit. Calls from inside run at once. */
  pass<T>(fn: () => T): T;
  close(): Promise<void>;
};

/** The files of a gate in a folder of its own. */
export const gateFiles = (folder: string): LmdbFiles => filesOfFolder(folder, 126);

/**
 * A gate for all who open or write an LMDB environment. An opener writes back, without LMDB's own lock, which
 * transaction was the newest when it began to open (`mdb_env_open2`, `mti_txnid`): commits of others in between are
 * lost although they were confirmed, and pages in use are overwritten. So openings and commits take turns, by the lock
 * of another environment, which the system releases when its holder is killed. That environment is empty, so nothing in
 * it can be lost (docs/decisions/0042).
 *
 * @param files made before, and looked at.
 */
export const openGate = ({ path, readers }: LmdbFiles): Gate => {
  const environment = open<Buffer, string>({
    path,
    encoding: 'binary',
    noSync: true,
    maxReaders: readers,
    maxDbs: 1,
  });
  let inside = false;
  return {
    pass: (fn) => {
      if (inside) return fn();
      return environment.transactionSync(() => {
        inside = true;
        try {
          return fn();
        } finally {
          inside = false;
        }
      });
    },
    close: () => environment.close(),
  };
};

/** The gate of an environment in a folder that another thread of this process has entered, and has open as long. */
export const openGateBeside = (folder: string): Gate => openGate(gateFiles(join(folder, 'gate')));
