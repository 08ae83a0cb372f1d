import { mkdirSync } from 'node:fs';
import { open } from 'lmdb';

/** One thread of one process at a time is inside, whoever is killed there; see {@link openGate}. */
export type Gate = {
  /** Runs `fn` when nobody else is inside. The process waits, without a limit. What is called inside is inside already. */
  pass<T>(fn: () => T): T;
  close(): Promise<void>;
};

/**
 * A gate for all who open or write an LMDB environment. Whoever opens one writes back, in passing and without LMDB's own
 * lock, which transaction was the newest when it began to open (`mdb_env_open2`, `mti_txnid`): what others commit in
 * between is forgotten, though they were told that it is there, and pages that are read are written over. So openings
 * and commits take turns, by the lock of another environment, which the system releases when its holder is killed. That
 * one holds nothing, so nothing of it can be forgotten (docs/decisions/0042).
 *
 * @param directory of the gate alone; made if it is not there.
 */
export const openGate = (directory: string): Gate => {
  mkdirSync(directory, { recursive: true });
  const environment = open<Buffer, string>({ path: directory, encoding: 'binary', noSync: true, maxDbs: 1 });
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
