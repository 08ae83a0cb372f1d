import type { Worker } from 'node:worker_threads';
import { oneByOne } from './one-by-one.ts';

/** How a thread that opens rows begins and ends. */
export type ThreadLife = {
  /** Resolves when it has opened its rows. @throws what `lose` was given, if it ends before */
  readonly opened: Promise<unknown>;
  /** The thread has said so. */
  hear(what: 'loaded' | 'opened' | 'closed'): void;
  /** It has ended, or will never open. */
  lose(why: Error): void;
  exited(): void;
  /** Resolves when it has closed its rows, if it has any. */
  closeRows(): Promise<void>;
  /** Resolves when it has ended. */
  end(): Promise<void>;
};

/** @param isEnded true: it is told nothing any more */
export const openThreadLife = (
  worker: Worker,
  tell: (message: { readonly kind: 'open' | 'close' }) => void,
  isEnded: () => boolean,
): ThreadLife => {
  const said = {
    loaded: Promise.withResolvers<undefined>(),
    opened: Promise.withResolvers<undefined>(),
    closed: Promise.withResolvers<undefined>(),
  };
  const { loaded, opened, closed } = said;
  const ended = Promise.withResolvers<undefined>();
  /** It has opened rows, or is about to. */
  let touched = false;
  // Somebody may be waiting for neither.
  loaded.promise.catch(() => undefined);
  opened.promise.catch(() => undefined);
  void loaded.promise
    .then(() =>
      oneByOne(() => {
        if (!isEnded()) {
          touched = true;
          tell({ kind: 'open' });
        }
        return opened.promise;
      }),
    )
    .catch(() => undefined);
  return {
    opened: opened.promise,
    hear: (what) => said[what].resolve(undefined),
    lose(why) {
      loaded.reject(why);
      opened.reject(why);
      closed.resolve(undefined);
    },
    exited: () => ended.resolve(undefined),
    async closeRows() {
      // While it loads it can be ended at any moment; LMDB must be closed first.
      if (!touched) return;
      await opened.promise.catch(() => undefined);
      if (!isEnded()) tell({ kind: 'close' });
      await closed.promise;
    },
    async end() {
      await worker.terminate();
      await ended.promise;
    },
  };
};
