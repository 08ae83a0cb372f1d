import { fail } from '@stemma/errors';
import type { SendHandle } from 'node:child_process';
import type { Server } from 'node:http';
import type { Outbox } from '../apart/outbox.ts';
import { openThreadSink } from '../apart/thread-sink.ts';
import { LIMITS } from '../front/limits.ts';
import { listenOn } from '../front/listen-on.ts';
import { openFront, type Bypass, type FrontDoor } from '../front/open-front.ts';
import { openIntercept, type Intercept } from '../intercept/open-intercept.ts';
import { guardedProxy } from '../proxy/guarded-proxy.ts';
import { openProxy } from '../proxy/open-proxy.ts';
import type { FromForwarder, ToForwarder } from './forwarder-messages.ts';
import { ForwarderOptions } from './forwarder-options.ts';

/** A proxy whose calls are recorded in another process. */
export type Forwarding = {
  readonly url: string;
  readonly port: number;
  /** The socket that it listens on: another process may listen on it, too. */
  readonly socket: () => SendHandle;
  /** Calls and connections that have not ended. */
  readonly underWay: () => number;
  readonly hear: (
    message: Extract<ToForwarder, { kind: 'recorded' | 'steered' | 'scopesRead' | 'steeredScopes' }>,
  ) => void;
  /** Nothing is recorded any more; calls go on. */
  readonly away: (reason: string) => void;
  /** Resolves with how many entries wait when all are recorded, or the time is over. */
  readonly drained: (milliseconds: number) => Promise<number>;
  /** Takes no new calls; those under way have 5 s. */
  readonly close: () => Promise<void>;
  /** What is not recorded stays in the journal. */
  readonly end: () => Promise<void>;
};

/** @param given {@link ForwarderOptions} @throws E_IO, E_ADDRESS_IN_USE */
export const startForwarding = async (
  given: unknown,
  socket: SendHandle | undefined,
  tell: Outbox<FromForwarder>['put'],
): Promise<Forwarding> => {
  const { directory, upstreams, intercept, redacts, host, port, scopes, away } =
    ForwarderOptions.parse(given);
  const sink = openThreadSink((message) => tell(message), directory);
  sink.knowScopes(scopes);
  if (away !== null) sink.end(away);
  const proxy = await openProxy({
    directory,
    upstreams,
    redacts,
    sink: sink.calls,
    // The recorder reads the file: that costs less than to send what it says.
    bytesToSink: 0,
    callBegan: () => tell({ kind: 'callBegan' }),
    warn: (sentence) => tell({ kind: 'warn', sentence }),
    count: () => undefined,
    counter: {
      addCall: (...of) => tell({ kind: 'count', what: 'addCall', of }),
      addUnsent: (...of) => tell({ kind: 'count', what: 'addUnsent', of }),
      addUnrecorded: (...of) => tell({ kind: 'count', what: 'addUnrecorded', of }),
      addHistory: (...of) => tell({ kind: 'count', what: 'addHistory', of }),
      addDropped: (...of) => tell({ kind: 'count', what: 'addDropped', of }),
      addRefused: (...of) => tell({ kind: 'count', what: 'addRefused', of }),
      addRecorded: (...of) => tell({ kind: 'count', what: 'addRecorded', of }),
    },
  });
  let hosts: (name: string) => boolean = () => false;
  let underWay = 0;
  const began = (closing: { once(event: 'close', act: () => void): unknown }): void => {
    underWay++;
    closing.once('close', () => underWay--);
  };
  const guarded = guardedProxy(
    proxy,
    (name) => hosts(name),
    () => undefined,
  );
  const passing: Bypass = {
    handle: (incoming, outgoing) => {
      began(outgoing);
      guarded.handle(incoming, outgoing);
    },
    upgrade: (incoming, client, head) => {
      began(client);
      guarded.upgrade(incoming, client, head);
    },
  };
  const intercepting =
    intercept &&
    openIntercept({
      ...intercept,
      proxy: {
        send: (incoming, outgoing, route) => {
          began(outgoing);
          proxy.send(incoming, outgoing, route);
        },
        pass: (incoming, client, head, route) => {
          began(client);
          proxy.pass(incoming, client, head, route);
        },
      },
      tunnelled: (name) => tell({ kind: 'tunnelled', host: name }),
    });
  const bypass = intercepting === null ? passing : withIntercept(passing, intercepting);
  const open = (): Server => openFront(NO_DOOR, LIMITS, undefined, bypass);
  const listening = await listenOn(open, { host, port, ...(socket !== undefined && { socket }) }).catch(
    async (error: unknown) => {
      await proxy.close();
      throw error;
    },
  );
  hosts = listening.hosts;
  let closed: Promise<void> | undefined;
  return {
    url: listening.url,
    port: listening.port,
    socket: () => socketOf(listening.server),
    underWay: () => underWay,
    hear: (message) => {
      if (message.kind === 'steeredScopes') sink.knowScopes(message.steered);
      else sink.hear(message);
    },
    away: (reason) => sink.end(reason),
    drained: proxy.drained,
    close: () => (closed ??= listening.close().finally(() => intercepting?.close())),
    end: async () => {
      await proxy.drained(0);
      await proxy.close();
    },
  };
};

/** What answers a command that was given a proxy: paths of this server stay what they are. */
const withIntercept = (passing: Bypass, { takes, request, upgrade, connect }: Intercept): Bypass => ({
  takes,
  connect,
  handle: (incoming, outgoing) => (takes(incoming) ? request : passing.handle)(incoming, outgoing),
  upgrade: (incoming, client, head) => (takes(incoming) ? upgrade : passing.upgrade)(incoming, client, head),
});

/** Here is nothing but the proxy. */
const NO_DOOR: FrontDoor = {
  find: ({ method, target }) => {
    throw fail('E_NOT_FOUND', `there is nothing at ${method} ${target.slice(0, 200)}: this is a proxy`);
  },
  answer: () => Promise.reject(fail('E_NOT_FOUND', 'this is a proxy')),
};

/**
 * The socket of a server itself. Node.js sends a server, too, but then the process that gets it accepts connections: this one only
 * keeps it open for the next forwarder.
 */
const socketOf = (server: Server): SendHandle => {
  const { _handle: socket } = server as unknown as { _handle: SendHandle };
  return socket;
};
