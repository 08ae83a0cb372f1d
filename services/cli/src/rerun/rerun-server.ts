import type { ServedCalls } from '@stemma/reruns';
import { upstreamVariables } from '../child-command.ts';
import { addressesOf, redactOf, type Context } from '../command.ts';

/** The gateway that commands call while they run again. */
export type RerunServer = {
  /** Answers the calls of a rerun. @returns the address that its command calls */
  readonly serve: (id: string, served: ServedCalls) => string;
  /** Answers the calls of a rerun no longer, and forgets what they were. */
  readonly forget: (id: string) => void;
  /** Waits until live calls are recorded. @returns how many entries still wait after 30 s */
  readonly drained: () => Promise<number>;
  readonly close: () => Promise<void>;
};

/** Milliseconds that live calls have to be recorded after a command has ended. */
const DRAIN = 30_000;

export const openRerunServer = async (
  { directory, env, output }: Pick<Context, 'directory' | 'env' | 'output'>,
  options: Readonly<Record<string, unknown>>,
): Promise<RerunServer> => {
  const { serveHome, queryTimeoutOf, upstreamsOf } = await import('@stemma/gateway');
  const underWay = new Map<string, ServedCalls>();
  const server = await serveHome({
    home: { directory, create: false, ...addressesOf(env), ...redactOf(options, env) },
    port: 0,
    queryTimeout: queryTimeoutOf(env),
    upstreams: upstreamsOf(upstreamVariables(env)),
    reruns: (id) => underWay.get(id),
    warn: output.say,
  });
  return {
    serve: (id, served) => {
      underWay.set(id, served);
      return `${server.url}/proxy/rerun/${id}`;
    },
    forget: (id) => void underWay.delete(id),
    drained: () => server.drained(DRAIN),
    close: () => server.close(),
  };
};
