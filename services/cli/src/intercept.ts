import { fail } from '@stemma/errors';
import type { InterceptedHosts } from '@stemma/gateway';
import { namedAddresses } from './child-command.ts';

/**
 * What `--intercept` and `--upstream` ask for; undefined: nothing is intercepted.
 *
 * @param isNeeded the command is intercepted though nobody asks for it
 * @throws E_USAGE
 */
export const interceptedHosts = async (
  { intercept, upstream }: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
  isNeeded: boolean,
): Promise<InterceptedHosts | undefined> => {
  const moved = Array.isArray(upstream) ? (upstream as readonly string[]) : [];
  if (intercept === undefined && !isNeeded) {
    if (moved.length > 0)
      throw fail('E_USAGE', '--upstream says where a host is that --intercept reads: add it');
    return undefined;
  }
  const { namedUpstreamsOf, upstreamIn } = await import('@stemma/gateway');
  const hosts = typeof intercept === 'string' && !EVERY.has(intercept) ? intercept.split(',') : [];
  for (const host of hosts) refuseNoHost('--intercept', host);
  const elsewhere = moved.map((text) => {
    const cut = text.indexOf('=');
    const host = text.slice(0, Math.max(cut, 0));
    refuseNoHost('--upstream', host);
    return [host.toLowerCase(), upstreamIn(`--upstream ${host}`, text.slice(cut + 1), null)] as const;
  });
  return {
    hosts,
    addresses: namedAddresses(env),
    upstreams: namedUpstreamsOf(env),
    elsewhere: Object.fromEntries(elsewhere),
  };
};

/** Words that name no host besides those of known providers. */
const EVERY: ReadonlySet<string> = new Set(['', 'auto']);

const refuseNoHost = (option: string, host: string): void => {
  if (/^[\w*][\w.*-]*(:\d{1,5})?$/.test(host.trim())) return;
  throw fail(
    'E_USAGE',
    `${option} takes hosts such as models.example or 127.0.0.1:8080, not ${JSON.stringify(host.slice(0, 100))}`,
  );
};
