import { VERSION } from '@stemma/errors';
import type { Server } from 'node:http';
import { openMetrics } from '@stemma/metrics';
import { addDoorCounts, openDoorCounts } from './front/door-counts.ts';
import { LIMITS, type GatewayLimits } from './front/limits.ts';
import { listenOn, type Gateway } from './front/listen-on.ts';
import { openFront } from './front/open-front.ts';
import type { GatewayOptions } from './gateway.ts';
import { openHomeAnswers } from './home-answers.ts';
import { openDoor } from './router.ts';

export type ServeOptions = Omit<GatewayOptions, 'hosts' | 'closing'> & {
  /** 0: any that is free; unless said, 7836 or the next that is free. */
  readonly port?: number;
  /** A loopback address; 127.0.0.1 unless said. */
  readonly host?: string;
  /** What clients are held to; see `LIMITS`. */
  readonly limits?: Partial<GatewayLimits>;
};

/**
 * Opens the HTTP door of a home that this thread holds, on an address of this machine. For homes that may be asked for
 * much there is `serveHome`.
 *
 * @throws E_NOT_ALLOWED for any other address: the gateway does not authenticate, so every client that reaches the
 *   port may read and write everything. E_ADDRESS_IN_USE.
 */
export const serveGateway = async ({ port, host, limits, ...options }: ServeOptions): Promise<Gateway> => {
  const closing = new AbortController();
  let hosts: (name: string) => boolean = () => false;
  const metrics = options.metrics ?? openMetrics({ service: 'gateway', version: VERSION, ofProcess: false });
  const { count, take } = openDoorCounts();
  metrics.beforeScrape(() => addDoorCounts(metrics, take()));
  const answers = openHomeAnswers({ ...options, metrics, closing: closing.signal });
  const door = openDoor(answers, (name) => hosts(name));
  const open = (): Server => openFront(door, { ...LIMITS, ...limits }, count);
  const listening = await listenOn(open, { port, host });
  hosts = listening.hosts;
  return {
    port: listening.port,
    url: listening.url,
    close: async () => {
      closing.abort();
      await listening.close();
      await answers.flush();
    },
  };
};
