import { connect } from 'node:net';

/*
 * A program that asks a gateway for the same wide selection on many connections, and again as soon as one is answered
 * or refused, until it is ended. Says how many answers it had, whenever it is told anything.
 */
const [, , port, connections, path = ''] = process.argv;
let answers = 0;
const ask = (): void => {
  const socket = connect(Number(port), '127.0.0.1');
  const send = (): void => {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  };
  socket.on('connect', send).on('error', () => undefined);
  socket.on('close', () => setTimeout(ask, 50));
  socket.on('data', (data: Buffer) => {
    if (!data.includes('HTTP/1.1 ')) return;
    answers++;
    setTimeout(send, 50);
  });
};
for (let i = 0; i < Number(connections); i++) ask();
process.on('disconnect', () => process.exit(0));
process.on('message', () => process.send?.(answers));
