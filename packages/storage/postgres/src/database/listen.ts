import pg from 'pg';
import { clientOptions, destroyConnection, type Database } from './database.ts';

/** Waits for notifications of a channel (`LISTEN`). */
export type Listener = {
  /**
   * Resolves when somebody may have notified the channel since the call, when the signal aborts, and in any case after a
   * second. The caller looks for what it waits for, and waits again.
   */
  notified(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** A notification is lost if the connection is; so nobody waits longer than this, in milliseconds. */
const POLL_MS = 1_000;

/** Listens on a connection of its own, which it opens with the first wait, and again when it is lost. */
export const listenTo = ({ address, deadlines }: Database, channel: string, poll = POLL_MS): Listener => {
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const each of [...waiting]) each();
  };
  let client: pg.Client | undefined;
  let closed = false;

  const connect = (): void => {
    if (client !== undefined || closed) return;
    const fresh = new pg.Client(clientOptions(address, deadlines));
    client = fresh;
    let listening = false;
    const lost = (): void => {
      destroyConnection(fresh);
      if (client === fresh) client = undefined;
      // The caller looks, and its next wait listens again. If the server does not answer, the wait lasts a poll first.
      if (listening) wake();
      listening = false;
    };
    fresh.on('error', lost);
    fresh.on('end', lost);
    fresh.on('notification', wake);
    fresh
      .connect()
      .then(() => fresh.query(`listen ${channel}`))
      .then(() => {
        listening = true;
        // A notification sent before `listen` was not received, so the caller looks once.
        wake();
      }, lost);
  };

  return {
    notified: (signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, poll);
        waiting.add(done);
        signal.addEventListener('abort', done);
        if (signal.aborted || closed) done();
        else connect();
      }),
    async close() {
      closed = true;
      wake();
      const open = client;
      client = undefined;
      if (open === undefined) return;
      setTimeout(() => destroyConnection(open), 1_000).unref();
      await open.end().catch(() => undefined);
    },
  };
};
