import { isPlaceName } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { AskedScope } from './entry.ts';

export const PROVIDERS = ['openai', 'anthropic'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The addresses of the providers' own APIs, as their clients have them; an upstream replaces one. */
export const UPSTREAMS: Readonly<Record<Provider, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
};

/** Where calls go. */
export type Upstreams = Readonly<Record<Provider, URL>>;

/** The upstreams that an environment names. @throws E_USAGE */
export const upstreamsOf = (env: Readonly<Record<string, string | undefined>>): Upstreams => ({
  openai: upstreamOf('STEMMA_UPSTREAM_OPENAI', env, UPSTREAMS.openai),
  anthropic: upstreamOf('STEMMA_UPSTREAM_ANTHROPIC', env, UPSTREAMS.anthropic),
});

const upstreamOf = (name: string, env: Readonly<Record<string, string | undefined>>, own: string): URL => {
  const text = env[name] ?? '';
  const url = URL.parse(text === '' ? own : text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw fail('E_USAGE', `${name} is not the address of an API, such as ${own}`);
  if (url.username !== '' || url.password !== '')
    throw fail('E_USAGE', `${name} holds a password: keys go from the client to the upstream`);
  return url;
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
  const match =
    /^\/proxy(?:(\/steer)?\/(?:(run|rerun)\/([^/]+)|history\/([^/]+)(?:\/run\/([^/]+))?))?\/(openai|anthropic)(\/.*)?$/.exec(
      path,
    );
  if (match === null)
    throw fail(
      'E_USAGE',
      'a proxied path is /proxy/openai/… or /proxy/anthropic/…, or has /run/RUN, /history/NAME or /history/NAME/run/RUN before it, and before that perhaps /steer',
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

/**
 * The address at the upstream. Some clients of Anthropic's API append `/v1/messages` to what they are given, others
 * `/messages`: both mean the same.
 */
export const upstreamTarget = (upstream: URL, { provider, path, query }: ProxyAddress): string => {
  const base = upstream.pathname.replace(/\/+$/, '');
  const version = provider === 'anthropic' && !/^\/v\d/.test(path) && !/\/v\d+$/.test(base) ? '/v1' : '';
  const rest = provider === 'openai' && /\/v1$/.test(base) ? path.replace(/^\/v1(?=\/)/, '') : path;
  return base + version + rest + query;
};
