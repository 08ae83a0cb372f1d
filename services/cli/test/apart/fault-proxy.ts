import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const HOST = '127.0.0.1';

/** A door before a server, whose network fails as told. */
export type FaultProxy = {
  /** Cuts all connections. */
  readonly cut: () => void;
  /** Cuts all connections and refuses new ones, until what is given is called. */
  readonly refuse: () => Promise<() => Promise<void>>;
  /** Delivers no byte, in no direction, on old and new connections, until what is given is called. */
  readonly stall: () => () => void;
  /** Delivers every piece so many milliseconds late, until what is given is called. */
  readonly slow: (milliseconds: number) => () => void;
  /** Delivers half of the next answer of the server and cuts its connection; resolves when it has. */
  readonly cutAnswer: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** @param port where it listens; @param to the port of the server */
export const openFaultProxy = async (port: number, to: number): Promise<FaultProxy> => {
  const open = new Set<Socket>();
  let stalled: Promise<undefined> | undefined;
  let delay = 0;
  let cutsAnswer: (() => void) | undefined;

  const deliver = async (from: Socket, into: Socket, isAnswer: boolean): Promise<void> => {
    for await (const data of from as AsyncIterable<Buffer>) {
      await stalled;
      if (delay > 0) await sleep(delay);
      if (isAnswer && cutsAnswer !== undefined) {
        const done = cutsAnswer;
        cutsAnswer = undefined;
        into.end(data.subarray(0, Math.ceil(data.length / 2)));
        done();
        return;
      }
      if (!into.write(data)) await once(into, 'drain');
    }
  };
  const join = (client: Socket): void => {
    const server = connect(to, HOST);
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end).on('close', () => {
        open.delete(socket);
        end();
      });
    }
    deliver(client, server, false).then(end, end);
    deliver(server, client, true).then(() => server.destroy(), end);
  };
  const listen = async (): Promise<Server> => {
    const server = createServer(join).listen(port, HOST);
    await once(server, 'listening');
    return server;
  };
  let server = await listen();
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  return {
    cut,
    close,
    refuse: async () => {
      await close();
      return async () => {
        server = await listen();
      };
    },
    stall: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      stalled = promise;
      return () => {
        stalled = undefined;
        resolve(undefined);
      };
    },
    slow: (milliseconds) => {
      delay = milliseconds;
      return () => {
        delay = 0;
      };
    },
    cutAnswer: () =>
      new Promise((resolve) => {
        cutsAnswer = resolve;
      }),
  };
};
