import { fail } from '@stemma/errors';
import { isLoopback } from '@stemma/machine';
import { pathOfMind } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import type { MindApi } from './mind.ts';
import type { MindName, MindProvider } from './parse-mind.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where the requests of a mind go, and with which headers. The headers hold the key: they are never shown. */
export type MindEndpoint = {
  readonly url: URL;
  /** True if the name of the mind, or a variable of Stemma's own, says the address. */
  readonly isNamed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: none is set that goes there. */
  readonly key: string | null;
  /** Why no key is sent, although one is set; null: one is sent, or none is set. */
  readonly withheld: string | null;
};

type Provider = {
  readonly own: string;
  /** The first that is set counts. */
  readonly urls: readonly string[];
  /** The first goes wherever a mind is, the second to the provider alone; the first that is set counts. */
  readonly keys: readonly [everywhere: string, provider: string];
  readonly headers: (key: string | null) => Record<string, string>;
  /** What stands between the address and the path of a request, where the address does not say it. */
  readonly version?: (path: string) => string;
  /** True: it is asked without a key where none is set. */
  readonly isOpen?: true;
};

const bearer = (key: string | null): Record<string, string> =>
  key === null ? {} : { authorization: `Bearer ${key}` };

const PROVIDERS: Readonly<Record<MindProvider, Provider>> = {
  openai: {
    own: 'https://api.openai.com/v1',
    urls: ['STEMMA_UPSTREAM_OPENAI', 'OPENAI_BASE_URL'],
    keys: ['STEMMA_OPENAI_API_KEY', 'OPENAI_API_KEY'],
    headers: bearer,
  },
  anthropic: {
    own: 'https://api.anthropic.com',
    urls: ['STEMMA_UPSTREAM_ANTHROPIC', 'ANTHROPIC_BASE_URL'],
    keys: ['STEMMA_ANTHROPIC_API_KEY', 'ANTHROPIC_API_KEY'],
    headers: (key) => ({ 'anthropic-version': '2023-06-01', ...defined({ 'x-api-key': key ?? undefined }) }),
    version: (path) => (/\/v\d+$/.test(path) ? '' : '/v1'),
  },
  gemini: {
    own: 'https://generativelanguage.googleapis.com',
    urls: ['STEMMA_UPSTREAM_GEMINI', 'GOOGLE_GEMINI_BASE_URL'],
    keys: ['STEMMA_GEMINI_API_KEY', 'GEMINI_API_KEY'],
    headers: (key) => defined({ 'x-goog-api-key': key ?? undefined }),
    version: (path) => (/\/v\d+\w*(?:\/|$)/.test(path) ? '' : '/v1beta'),
  },
  ollama: {
    own: 'http://127.0.0.1:11434',
    urls: ['STEMMA_UPSTREAM_OLLAMA', 'OLLAMA_HOST'],
    keys: ['STEMMA_OLLAMA_API_KEY', 'OLLAMA_API_KEY'],
    headers: bearer,
    isOpen: true,
  },
  cohere: {
    own: 'https://api.cohere.com',
    urls: ['STEMMA_UPSTREAM_COHERE', 'CO_API_URL'],
    keys: ['STEMMA_COHERE_API_KEY', 'CO_API_KEY'],
    headers: bearer,
    version: (path) => (/\/v\d+$/.test(path) ? '' : '/v2'),
  },
  bedrock: {
    own: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    urls: ['STEMMA_UPSTREAM_BEDROCK', 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME'],
    keys: ['STEMMA_BEDROCK_API_KEY', 'AWS_BEARER_TOKEN_BEDROCK'],
    headers: bearer,
  },
};

/** The names of the variables that hold keys: no process that Stemma starts for a model's tools sees them. */
export const KEY_VARIABLES: readonly string[] = Object.values(PROVIDERS).flatMap(({ keys }) => keys);

/** The path of a mind's requests, behind that of its provider's API. */
export const pathOf = (api: MindApi, model: string, stream = false): string => pathOfMind(api, model, stream);

type Asked = Pick<Extract<MindName, { kind: 'remote' }>, 'provider' | 'url'> & { readonly path: string };

/** Where requests go, whether or not there is a key for it. @throws E_MIND_INVALID */
export const addressOf = (
  { provider, url: named, path: asked }: Asked,
  env: Env,
): Pick<MindEndpoint, 'url' | 'isNamed'> => {
  const { own, urls, version } = PROVIDERS[provider];
  const base = named ?? baseOf(env, urls, own);
  const path = base.pathname.replace(/\/+$/, '');
  const [askedPath = '', query = ''] = asked.split('?');
  const url = new URL(base);
  url.pathname = path + (version?.(path) ?? '') + askedPath;
  url.search = query;
  return { url, isNamed: named !== null || firstSet(env, urls)?.name.startsWith('STEMMA_') === true };
};

/** @throws E_MIND_INVALID, E_MIND_KEY_MISSING */
export const endpointOf = (asked: Asked, env: Env): MindEndpoint => {
  const { own, urls, keys, headers, isOpen } = PROVIDERS[asked.provider];
  const base = asked.url ?? baseOf(env, urls, own);
  const { set, withheld } = keyFor(asked, env);
  if (set === null && isOpen !== true && base.href === new URL(own).href)
    throw fail('E_MIND_KEY_MISSING', `${own} needs a key, and ${keys.join(' and ')} are not set`);
  if (set !== null && !/^[\x21-\x7e]+$/.test(set.value))
    throw fail('E_MIND_INVALID', `${set.name} holds characters that no header may have`);
  if (set !== null && base.protocol !== 'https:' && !isLoopback(base.hostname.replace(/^\[|\]$/g, '')))
    throw fail(
      'E_MIND_INVALID',
      `${base.origin} is not encrypted: the key could be read on the way. Use https, or unset ${set.name}`,
    );
  const key = set?.value ?? null;
  return { ...addressOf(asked, env), headers: headers(key), key, withheld };
};

type SetVariable = { readonly name: string; readonly value: string };

/** The key that goes along: that of a provider only to its own host, or where the environment says that its API is. */
const keyFor = (
  { provider, url }: Asked,
  env: Env,
): { readonly set: SetVariable | null; readonly withheld: string | null } => {
  const { own, urls, keys } = PROVIDERS[provider];
  const set = firstSet(env, keys) ?? null;
  const [everywhere, itsOwn] = keys;
  if (set?.name !== itsOwn || url === null) return { set, withheld: null };
  const hosts = new Set([new URL(own).origin, baseOf(env, urls, own).origin]);
  if (hosts.has(url.origin)) return { set, withheld: null };
  return {
    set: null,
    withheld: `${itsOwn} was not sent, as it goes to ${[...hosts].join(' and ')} only: ${everywhere} goes wherever a mind is`,
  };
};

/** What a server says that refuses a request, and why it got no key. */
export const refusalText = (
  { url: { origin }, withheld }: Pick<MindEndpoint, 'url' | 'withheld'>,
  status: number,
  said: string,
): string => {
  const why = withheld !== null && (status === 401 || status === 403) ? `; ${withheld}` : '';
  return `${origin} refuses the request (${status})${said}${why}`;
};

const baseOf = (env: Env, names: readonly string[], own: string): URL => {
  const given = firstSet(env, names);
  const url = URL.parse(addressIn(given) ?? own);
  const isFit = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (isFit && url.username === '' && url.password === '') return url;
  throw fail('E_MIND_INVALID', `${given?.name ?? ''} is not the address of an API, such as ${own}`);
};

/** Ollama's client takes a host without a scheme, at its own port. */
const addressIn = (given: SetVariable | undefined): string | undefined =>
  given?.name !== 'OLLAMA_HOST' || given.value.includes('://')
    ? given?.value
    : `http://${given.value}${/:\d+$/.test(given.value) ? '' : ':11434'}`;

const firstSet = (env: Env, names: readonly string[]): SetVariable | undefined => {
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value !== '') return { name, value };
  }
  return undefined;
};
