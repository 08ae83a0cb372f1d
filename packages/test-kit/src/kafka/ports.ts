import { once } from 'node:events';
import { createServer } from 'node:net';

export type Ports = { readonly broker: number; readonly controller: number };

/**
 * Below those that the system gives to outgoing connections (from 32,768 on): while a broker is away, a client that
 * connects again and again from one of those can meet itself, and the broker finds its port taken.
 */
const FIRST = 10_000;
const BLOCKS = 1100;
const BLOCK = 20;

let asked = 0;

/** Ports of the loopback address that nobody listens at. No process is given one twice, and processes side by side begin apart. */
export const freePorts = async (): Promise<Ports> => ({
  broker: await freePort(),
  controller: await freePort(),
});

export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < BLOCKS * BLOCK; tries++) {
    const port = FIRST + (((process.pid % BLOCKS) * BLOCK + asked++) % (BLOCKS * BLOCK));
    if (await isFree(port)) return port;
  }
  throw new Error('there is no free port');
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};
