import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * Asks a gateway for its health every 50 ms, and, beside it, a server in a process of its own that does nothing: what
 * the latter takes is the machine's share. Says what they took, in milliseconds, in order of size, whenever it is told anything.
 */
process.on('disconnect', () => process.exit(0));
if (process.argv[2] === 'bare') {
  const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.((server.address() as AddressInfo).port);
  await once(process, 'disconnect');
}
const bare = fork(import.meta.filename, ['bare']);
const [barePort] = (await once(bare, 'message')) as [number];

const INTERVAL = 50;
let times = { gateway: [] as number[], bare: [] as number[] };
let failed = 0;

const probe = (what: 'gateway' | 'bare', port: number): void => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (): void => {
    const began = performance.now();
    const done = (ok: boolean): void => {
      const took = performance.now() - began;
      times[what].push(took);
      if (!ok) failed++;
      setTimeout(ask, Math.max(0, INTERVAL - took));
    };
    get({ host: '127.0.0.1', port, path: '/health/live', agent }, (response) => {
      response.resume().on('end', () => done(response.statusCode === 200));
    }).on('error', () => done(false));
  };
  ask();
};
probe('gateway', Number(process.argv[2]));
probe('bare', barePort);

process.on('message', () => {
  const sorted = (list: readonly number[]): readonly number[] => list.toSorted((a, b) => a - b);
  process.send?.({ gateway: sorted(times.gateway), bare: sorted(times.bare), failed });
  times = { gateway: [], bare: [] };
  failed = 0;
});
process.send?.('ready');
