import { PROVIDERS, PROVIDER_NAMES, providerOfHost, type Provider } from '@stemma/model-apis/providers';
import { hostText } from '../front/host-text.ts';
import type { CallRoute, Upstreams } from '../proxy/address.ts';

/** A server as a client names it: `https:`, `api.openai.com`, 443. */
export type ServerName = {
  readonly protocol: 'http:' | 'https:';
  /** Lower case, without brackets. */
  readonly hostname: string;
  readonly port: number;
};

/** What is intercepted: known providers, and what is named here. */
export type InterceptedHosts = {
  /** `HOST` or `HOST:PORT`; `*` stands for one part of a name. */
  readonly hosts: readonly string[];
  /** Addresses that the command is told to call. */
  readonly addresses: readonly string[];
  /** Where providers' own hosts really are. */
  readonly upstreams: Upstreams;
  /** Where other hosts (`HOST` or `HOST:PORT`) really are. */
  readonly elsewhere: Readonly<Record<string, URL>>;
};

/** Knows whose requests are read, and where they go. */
export type ReadHosts = {
  /** True if requests to it are read; others pass unread. */
  readonly isRead: (origin: ServerName) => boolean;
  /** Where a request to a host that is read really goes. @param target the path and the query */
  readonly routeOf: (origin: ServerName, target: string) => Pick<CallRoute, 'upstream' | 'target'>;
};

export const openReadHosts = ({ hosts, addresses, upstreams, elsewhere }: InterceptedHosts): ReadHosts => {
  const named = new Set<string>();
  for (const url of [...addresses, ...OWN_ADDRESSES].map((text) => URL.parse(text)))
    if (url !== null) named.add(keyOf(originOf(url)));
  for (const url of Object.values(upstreams)) named.add(keyOf(originOf(url)));
  const moved = new Map(Object.entries(elsewhere).map(([host, url]) => [sameHost(host.toLowerCase()), url]));
  const patterns = hosts.map((host) => patternOf(sameHost(host.trim().toLowerCase())));
  const movedTo = (origin: ServerName): URL | undefined =>
    moved.get(keyOf(origin)) ?? moved.get(sameHost(origin.hostname));
  return {
    isRead: (origin) =>
      movedTo(origin) !== undefined ||
      providerOfHost(origin.hostname) !== undefined ||
      named.has(keyOf(origin)) ||
      patterns.some((pattern) => pattern.test(keyOf(origin)) || pattern.test(sameHost(origin.hostname))),
    routeOf: (origin, target) => {
      const there = movedTo(origin);
      if (there !== undefined) return { upstream: there, target: below(there, target) };
      const provider = providerOf(origin);
      const upstream = provider === undefined ? undefined : upstreams[provider];
      if (provider === undefined || upstream === undefined) return { upstream: urlOf(origin), target };
      return { upstream, target: below(upstream, withoutAddress(PROVIDERS[provider].address, target)) };
    },
  };
};

/**
 * True if an entry of `NO_PROXY` keeps requests from the proxy that are to be read: `*`, `openai.com`, `.openai.com`, `127.0.0.1:8080`,
 * or a range of addresses on this machine.
 */
export const isReadEntry = (
  entry: string,
  { hosts, addresses, upstreams, elsewhere }: InterceptedHosts,
): boolean => {
  const plain = sameHost(
    entry
      .toLowerCase()
      .replace(/^\*?\./, '')
      .replace(/\/\d+$/, ''),
  );
  if (plain === '*' || /^127\./.test(plain)) return true;
  const named = [...addresses, ...Object.values(upstreams).map(({ href }) => href)].flatMap((text) => {
    const url = URL.parse(text);
    return url === null ? [] : [url.hostname];
  });
  const known = PROVIDER_NAMES.flatMap((name) => PROVIDERS[name].hosts);
  const [wanted = ''] = plain.split(':', 1);
  return [...known, ...named, ...hosts, ...Object.keys(elsewhere)].some((host) => {
    const [name = ''] = sameHost(host.toLowerCase()).split(':', 1);
    return name === wanted || name.endsWith(`.${wanted}`);
  });
};

/** The provider that a server is of: by its name, or as it stands on this machine. */
const providerOf = (origin: ServerName): Provider | undefined =>
  providerOfHost(origin.hostname) ??
  PROVIDER_NAMES.find((name) => {
    const { address } = PROVIDERS[name];
    return address !== null && keyOf(originOf(new URL(address))) === keyOf(origin);
  });

/** Addresses of providers on this machine: their clients call them though nothing names them. */
const OWN_ADDRESSES: readonly string[] = PROVIDER_NAMES.flatMap((name) => {
  const { address } = PROVIDERS[name];
  return address?.startsWith('http:') === true ? [address] : [];
});

/** The server that an address names. */
export const originOf = ({ protocol, hostname, port }: URL): ServerName => ({
  protocol: protocol === 'https:' ? 'https:' : 'http:',
  hostname: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
});

/** The address of a server. */
export const urlOf = ({ protocol, hostname, port }: ServerName): URL =>
  new URL(`${protocol}//${hostText(hostname)}:${port}`);

const keyOf = ({ hostname, port }: ServerName): string => `${sameHost(hostname)}:${port}`;

/** All names of this machine are one. */
const sameHost = (host: string): string =>
  host.replace(/^(localhost|\[?::1\]?|0\.0\.0\.0)(?=:\d+$|$)/, '127.0.0.1');

const patternOf = (host: string): RegExp =>
  new RegExp(`^${host.replace(/[^\w*]/g, String.raw`\$&`).replaceAll('*', '[^.]*')}$`);

/** A path of an API below an address. */
const below = (upstream: URL, target: string): string => upstream.pathname.replace(/\/+$/, '') + target;

/** What stands behind a provider's own address in a path: `/chat/completions` of `/v1/chat/completions`. */
const withoutAddress = (address: string | null, target: string): string => {
  const base = address === null ? '' : new URL(address).pathname.replace(/\/+$/, '');
  return base !== '' && (target === base || target.startsWith(`${base}/`))
    ? target.slice(base.length)
    : target;
};
