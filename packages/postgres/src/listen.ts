import pg from 'pg';
import { clientOptions, destroyConnection, type Database } from './database.ts';

/** Hears when somebody notifies a channel. */
export type Listener = {
  /**
   * Resolves when the channel may have been notified since the call, with the signal, and in any case after a second:
   * who waits for something looks by itself, and waits again.
   */
  notified(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** A notification can be lost with its connection. */
const POLL_MS = 1_000;

/** Listens on a connection of its own, made when first needed and again when it is lost. */
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
      // Who waits looks, and listens again by waiting again. Where nobody answers, that is not at once but after a poll.
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
        // What was notified before was not heard.
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
