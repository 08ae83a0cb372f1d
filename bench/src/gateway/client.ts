import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Connections of a client that are kept open, each with one request at a time. */
export type Client = {
  /** Resolves when the answer is whole. @param body a text as it is, else as JSON. @throws an Error unless it is 200 or 201 */
  readonly post: (path: string, body: unknown) => Promise<void>;
  readonly get: (path: string) => Promise<void>;
  readonly close: () => void;
};

type Connection = { readonly socket: Socket; readonly ask: (request: string) => Promise<void> };

/**
 * A client that costs little: who sends shares the machine with who answers, and one of `node:http` would take as much of
 * it as the gateway. It knows no more of HTTP than the gateway's answers need.
 */
export const openClient = async (url: string, connections: number): Promise<Client> => {
  const { hostname, port, host } = new URL(url);
  const all = await Promise.all(
    Array.from({ length: connections }, () => openConnection(hostname, Number(port))),
  );
  // The one that has been idle longest is next: the gateway closes those that are idle for long.
  const free = [...all];
  const queue: ((connection: Connection) => void)[] = [];
  const release = (connection: Connection): void => {
    const next = queue.shift();
    if (next) next(connection);
    else free.push(connection);
  };
  const ask = async (request: string): Promise<void> => {
    const connection = free.shift() ?? (await new Promise<Connection>((resolve) => queue.push(resolve)));
    try {
      await connection.ask(request);
    } finally {
      release(connection);
    }
  };
  return {
    post: (path, body) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const length = Buffer.byteLength(text);
      const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
      return ask(`${head}content-length: ${length}\r\n\r\n${text}`);
    },
    get: (path) => ask(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`),
    close: () => {
      for (const { socket } of all) socket.destroy();
    },
  };
};

const openConnection = async (host: string, port: number): Promise<Connection> => {
  // The length of a body is in bytes.
  const socket = connect({ port, host, noDelay: true }).setEncoding('latin1');
  await once(socket, 'connect');
  let text = '';
  let settle: (error?: Error) => void = () => undefined;
  socket.on('data', (piece: string) => {
    text += piece;
    const head = text.indexOf('\r\n\r\n');
    if (head === -1) return;
    const end = head + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (text.length < end) return;
    const answer = text;
    text = text.slice(end);
    settle(/^HTTP\/1.1 20[01] /.test(answer) ? undefined : new Error(answer));
  });
  socket.on('error', (error) => settle(error));
  socket.on('close', () => settle(new Error('the gateway closed the connection')));
  return {
    socket,
    ask: (request) =>
      new Promise((resolve, reject) => {
        settle = (error) => (error === undefined ? resolve() : reject(error));
        if (socket.destroyed) reject(new Error('the gateway closed the connection'));
        else socket.write(request);
      }),
  };
};
