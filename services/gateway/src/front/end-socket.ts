import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers with JSON on a connection for which there is no response of Node.js, and ends it. */
export const endSocket = (socket: Duplex, status: number, json: string): void => {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n`;
  socket.end(head + json);
};
