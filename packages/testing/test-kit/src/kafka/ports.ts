import { once } from 'node:events';
import { createServer } from 'node:net';

export type Ports = { readonly broker: number; readonly controller: number };

/**
 * The first port. All are below those that the system gives to outgoing connections (32,768 and above): otherwise a
 * client that reconnects while a broker is stopped could get the port of the broker, which then could not start again.
 */
const FIRST = 10_000;
const BLOCKS = 1100;
const BLOCK = 20;

let asked = 0;

/** Free ports of the loopback address. A process never gets a port twice, and parallel processes search different ranges. */
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
