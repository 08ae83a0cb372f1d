import { isPlaceName } from '@stemma/api';
import { fail } from '@stemma/errors';
import { PROVIDER_NAMES, PROVIDERS, upstreamVariableOf, type Provider } from '@stemma/model-apis/providers';
import type { AskedScope } from './entry.ts';

/** Where the calls of each provider go; those of a provider that has none are refused. */
export type Upstreams = Readonly<Partial<Record<Provider, URL>>>;

/** An environment. */
type Env = Readonly<Record<string, string | undefined>>;

/** The upstreams that an environment names, else the providers' own addresses. @throws E_USAGE */
export const upstreamsOf = (env: Env): Upstreams => ({ ...ownUpstreams(), ...namedUpstreamsOf(env) });

/** The upstreams that an environment names with `STEMMA_UPSTREAM_OPENAI`, …. @throws E_USAGE */
export const namedUpstreamsOf = (env: Env): Upstreams =>
  Object.fromEntries(
    PROVIDER_NAMES.flatMap((provider) => {
      const name = upstreamVariableOf(provider);
      const text = env[name] ?? '';
      return text === '' ? [] : [[provider, upstreamIn(name, text, PROVIDERS[provider].address)]];
    }),
  );

const ownUpstreams = (): Upstreams =>
  Object.fromEntries(
    PROVIDER_NAMES.flatMap((provider) => {
      const { address } = PROVIDERS[provider];
      return address === null ? [] : [[provider, new URL(address)]];
    }),
  );

/** The address of an API in a text. @param name what says it @param own an address like it @throws E_USAGE */
export const upstreamIn = (name: string, text: string, own: string | null): URL => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw fail('E_USAGE', `${name} is not the address of an API, such as ${own ?? 'https://models.example'}`);
  if (url.username !== '' || url.password !== '')
    throw fail('E_USAGE', `${name} holds a password: keys go from the client to the upstream`);
  return url;
};

/** The upstream of a provider. @throws E_USAGE if nothing says where it is */
const upstreamOf = (upstreams: Upstreams, provider: Provider): URL => {
  const upstream = upstreams[provider];
  if (upstream !== undefined) return upstream;
  throw fail(
    'E_USAGE',
    `set ${upstreamVariableOf(provider)}: ${provider} has no address that all accounts share`,
  );
};

/** What a path under /proxy/ asks for. */
export type ProxyAddress = {
  readonly provider: Provider;
  readonly place: AskedScope;
  /** The run of a program that makes the call, where its place does not say so; null: not known. */
  readonly run: string | null;
  /** The rerun that answers it; null: its provider does. */
  readonly rerun: string | null;
  /** What the client appended to the address of the API, without the query. */
  readonly path: string;
  readonly query: string;
};

/**
 * The parts of `/proxy/[[steer/]run/RUN/|[steer/]history/NAME/[run/RUN/]|rerun/RERUN/]PROVIDER/PATH`. @param named what the header `x-stemma-history` says
 *
 * @throws E_USAGE
 */
export const addressOf = (target: string, named: string | undefined): ProxyAddress => {
  const cut = target.indexOf('?');
  const [path, query] = cut === -1 ? [target, ''] : [target.slice(0, cut), target.slice(cut)];
  const match = PATH.exec(path);
  if (match === null)
    throw fail(
      'E_USAGE',
      'a proxied path is /proxy/openai/…, /proxy/anthropic/… or that of another provider, or has /run/RUN, /history/NAME or /history/NAME/run/RUN before it, and before that perhaps /steer',
    );
  const [, steered, word, segment = '', history, ofHistory, provider, rest = ''] = match;
  const steer = steered === undefined ? {} : ({ steer: true } as const);
  let place: AskedScope = null;
  if (named !== undefined) place = { name: checked(named), ...steer };
  else if (word === 'run') place = { run: checked(segment), ...steer };
  else if (history !== undefined) place = { name: checked(history), ...steer };
  const rerun = word === 'rerun' ? checked(segment) : null;
  // A header names another place, not another run.
  const isOfRun = word === 'run' && named !== undefined;
  const run = ofHistory !== undefined ? checked(ofHistory) : isOfRun ? checked(segment) : rerun;
  return { provider: provider as Provider, place, run, rerun, path: rest, query };
};

const PATH = new RegExp(
  String.raw`^/proxy(?:(/steer)?/(?:(run|rerun)/([^/]+)|history/([^/]+)(?:/run/([^/]+))?))?/(${PROVIDER_NAMES.join('|')})(/.*)?$`,
);

const checked = (text: string): string => {
  const name = decoded(text);
  if (isPlaceName(name)) return name;
  throw fail(
    'E_USAGE',
    `${JSON.stringify(name.slice(0, 140))} names no history: letters, digits, and . _ - :`,
  );
};

/** A part of a path as it is meant: what is no letter of ASCII is escaped there. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text).normalize('NFC');
  } catch {
    return text;
  }
};

/** A request on its way: where it goes, and where its call is recorded. */
export type CallRoute = Pick<ProxyAddress, 'place' | 'run'> & {
  readonly upstream: URL;
  /** The path and the query at the upstream. */
  readonly target: string;
};

/** The route of what a client sent to an address of this server. @throws E_USAGE */
export const routeOf = (upstreams: Upstreams, address: ProxyAddress): CallRoute => {
  const upstream = upstreamOf(upstreams, address.provider);
  const { place, run } = address;
  return { place, run, upstream, target: upstreamTarget(upstream, address) };
};

/** Paths of Anthropic's API as clients append them to an address that names its version. */
const WITHOUT_VERSION = /^\/(messages|models|complete)(?=\/|$)/;

/**
 * The address at the upstream. Some clients of Anthropic's API append `/v1/messages` to what they are given, others
 * `/messages`: both mean the same. Every other path stays as it is.
 */
const upstreamTarget = (upstream: URL, { provider, path, query }: ProxyAddress): string => {
  const base = upstream.pathname.replace(/\/+$/, '');
  const isShort = provider === 'anthropic' && WITHOUT_VERSION.test(path) && !/\/v\d+$/.test(base);
  const rest = provider === 'openai' && /\/v1$/.test(base) ? path.replace(/^\/v1(?=\/)/, '') : path;
  return `${base}${isShort ? '/v1' : ''}${rest}` + query;
};
