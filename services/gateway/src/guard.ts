import { fail } from '@stemma/errors';
import { isLoopback } from '@stemma/machine';

/**
 * Refuses requests that a web page of somebody else could send. A page can make a browser call an address of this
 * machine, even under a name of its own that it lets point here (DNS rebinding); so the name that was called (`Host`)
 * and the page that calls (`Origin`, `Sec-Fetch-Site`) must be this server's own. Programs send neither of the latter.
 *
 * @param hosts the values of `Host` that are its own, with port.
 */
export const refuseForeign = (
  { host, path, header }: ForeignRequest,
  hosts: (host: string) => boolean,
): void => {
  if (!hosts(host))
    throw fail('E_NOT_ALLOWED', `this server does not answer to the name ${shown(host)}`, {
      host: shown(host),
    });
  const origin = header('origin');
  if (origin !== undefined && origin !== `http://${host}`)
    throw fail('E_NOT_ALLOWED', `a page of ${shown(origin)} may not use this server`, {
      origin: shown(origin),
    });
  const site = header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && path !== '/')
    throw fail('E_NOT_ALLOWED', 'a page of another site may not use this server', { site: shown(site) });
};

/** What a request says of where it comes from. */
export type ForeignRequest = {
  /** The name that the client called. */
  readonly host: string;
  readonly path: string;
  readonly header: (name: string) => string | undefined;
};

const shown = (text: string): string => (text.length > 100 ? text.slice(0, 100) + '…' : text);

/** The hosts of a server on a loopback address: any loopback name with its port (or without one, for port 80). */
export const loopbackHosts =
  (port: number) =>
  (host: string): boolean => {
    const match = /^(\[::1\]|[^:]+)(?::(\d+))?$/.exec(host);
    return match !== null && isLoopback(match[1] ?? '') && Number(match[2] ?? 80) === port;
  };
