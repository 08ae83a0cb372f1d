import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayLimits } from './limits.ts';

/** The connections of a server. */
export type Connections = {
  /** Notes a request until `done` is called. False: its connection has too many already. */
  readonly begin: (socket: Socket) => { readonly admitted: boolean; readonly done: () => void };
};

type Connection = { requests: number };

/**
 * Bounds the connections of a server. On a loopback address all clients come from one address, so the client that is
 * counted is the connection. Where there are too many, the one that has waited longest without a request goes: a client
 * that holds a thousand keeps nobody out. One that takes nothing of its answer is cut off.
 */
export const boundConnections = (
  server: Server,
  { connections, perConnection, stall }: Pick<GatewayLimits, 'connections' | 'perConnection' | 'stall'>,
): Connections => {
  /** Those without a request that is not answered, the longest idle first: a map keeps its order. */
  const idle = new Map<Socket, Connection>();
  const known = new Map<Socket, Connection>();

  const settle = (socket: Socket, connection: Connection): void => {
    if (known.has(socket)) idle.set(socket, connection);
  };
  server.on('connection', (socket: Socket) => {
    const connection: Connection = { requests: 0 };
    known.set(socket, connection);
    settle(socket, connection);
    socket.once('close', () => {
      known.delete(socket);
      idle.delete(socket);
    });
    if (known.size <= connections) return;
    const [longest = socket] = idle.keys();
    longest.destroy();
  });
  // Node asks how far a large write has come before it says that nothing happened. What is only being worked on, and a
  // stream that has nothing to say, has nothing to write: it stays.
  server.setTimeout(stall, (socket) => {
    if (socket.writableLength > 0 || (known.get(socket)?.requests ?? 0) === 0) socket.destroy();
    else socket.setTimeout(stall);
  });
  return {
    begin: (socket) => {
      const connection = known.get(socket) ?? { requests: 0 };
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
