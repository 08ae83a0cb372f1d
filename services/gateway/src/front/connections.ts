import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { CountAtDoor } from './door-counts.ts';
import type { GatewayLimits } from './limits.ts';

/** The connections of a server. */
export type Connections = {
  /** Notes a request until `done` is called. False: its connection has too many already. */
  readonly begin: (socket: Socket) => { readonly admitted: boolean; readonly done: () => void };
  /** The client may take its answer as slowly as it likes: nothing of it waits here. */
  readonly spare: (socket: Socket) => void;
};

type Connection = {
  requests: number;
  spared: boolean;
  /** How far its writes were when that was last new; undefined: nothing was waiting to be taken. */
  progress: string | undefined;
  since: number;
};

/**
 * How far the writes of a connection are. What a client sends says nothing: who takes nothing may send all the time. Of
 * one large write only the system's own queue says how much of it is left, as Node's timeouts see it too.
 */
const writtenBy = (socket: Socket): string => {
  const { _handle: handle } = socket as unknown as { _handle?: { readonly writeQueueSize?: number } | null };
  return `${socket.bytesWritten} ${handle?.writeQueueSize ?? ''}`;
};

const connected = (): Connection => ({
  requests: 0,
  spared: false,
  progress: undefined,
  since: performance.now(),
});

/**
 * Bounds the connections of a server. On a loopback address all clients come from one address, so the client that is
 * counted is the connection. Where there are too many, the one that has waited longest without a request goes: a client
 * that holds a thousand keeps nobody out. One that takes nothing of its answer is cut off.
 */
export const boundConnections = (
  server: Server,
  { connections, perConnection, stall }: Pick<GatewayLimits, 'connections' | 'perConnection' | 'stall'>,
  count: CountAtDoor,
): Connections => {
  /** Those without a request that is not answered, the longest idle first: a map keeps its order. */
  const idle = new Map<Socket, Connection>();
  const known = new Map<Socket, Connection>();

  const settle = (socket: Socket, connection: Connection): void => {
    if (known.has(socket)) idle.set(socket, connection);
  };
  server.on('connection', (socket: Socket) => {
    const connection = connected();
    known.set(socket, connection);
    settle(socket, connection);
    socket.once('close', () => {
      known.delete(socket);
      idle.delete(socket);
    });
    if (known.size <= connections) return;
    const [longest = socket] = idle.keys();
    count('stemma_http_connections_dropped_total', { reason: 'too-many' });
    longest.destroy();
  });
  const sweep = setInterval(
    () => {
      const now = performance.now();
      for (const [socket, connection] of known) {
        const progress = connection.spared || socket.writableLength === 0 ? undefined : writtenBy(socket);
        if (progress === undefined || progress !== connection.progress) {
          connection.progress = progress;
          connection.since = now;
        } else if (now - connection.since > stall) {
          count('stemma_http_connections_dropped_total', { reason: 'stalled' });
          socket.destroy();
        }
      }
    },
    Math.min(1_000, stall / 3),
  ).unref();
  server.on('close', () => clearInterval(sweep));
  return {
    spare: (socket) => {
      const connection = known.get(socket);
      if (connection !== undefined) connection.spared = true;
    },
    begin: (socket) => {
      const connection = known.get(socket) ?? connected();
      connection.requests++;
      idle.delete(socket);
      let ended = false;
      return {
        admitted: connection.requests <= perConnection,
        done: () => {
          if (ended) return;
          ended = true;
          if (--connection.requests === 0) settle(socket, connection);
        },
      };
    },
  };
};
