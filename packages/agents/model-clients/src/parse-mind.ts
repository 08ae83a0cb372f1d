import { echo, fail } from '@stemma/errors';
import { mindNames } from '@stemma/model-apis';
import type { MindApi } from './mind.ts';

/** What a text such as `openai:gpt-x@https://example.org/v1` names. */
export type MindName =
  | { readonly kind: 'offline'; readonly seed: number }
  | {
      readonly kind: 'remote';
      readonly api: MindApi;
      readonly provider: MindProvider;
      readonly model: string;
      /** Null: where the environment says, else the provider's own. */
      readonly url: URL | null;
    };

/** Who runs the models of an API: where requests go, and with which key. */
export const MIND_PROVIDERS = ['openai', 'anthropic', 'gemini', 'ollama', 'cohere', 'bedrock'] as const;
export type MindProvider = (typeof MIND_PROVIDERS)[number];

const APIS = mindNames();

/** `openai.responses` is an API of `openai`. */
const providerOf = (name: string): MindProvider | undefined =>
  MIND_PROVIDERS.find((provider) => name === provider || name.startsWith(`${provider}.`));

/** What follows an `@`: a host with a port, a name with a dot and a path, this machine, or a word that says url. */
const ADDRESS_LIKE = /@(?:[^@/]*:\d+(?:\/|$)|[^@/]+\/|localhost\b|\[|\/|[a-z]+:\/|[^@]*url)/i;

const MODEL = /^[\x21-\x7e]{1,256}$/;

/** The mind that a text names. @throws E_MIND_INVALID */
export const parseMind = (spec: string): MindName => {
  const refuse = (why: string): Error =>
    fail('E_MIND_INVALID', `${JSON.stringify(echo(spec))} names no mind: ${why}`);
  const offline = /^offline(?::(\d{1,9}))?$/.exec(spec);
  if (offline !== null) return { kind: 'offline', seed: Number(offline[1] ?? 0) };
  const colon = spec.indexOf(':');
  const mind = spec.slice(0, Math.max(0, colon));
  const [api, provider] = [APIS.get(mind), providerOf(mind)];
  if (api === undefined || provider === undefined)
    throw refuse(
      `write ${[...APIS.keys()].map((name) => `${name}:MODEL`).join(', ')}, each with @URL or not, or offline`,
    );
  const rest = spec.slice(colon + 1);
  const at = rest.search(/@https?:\/\//);
  const model = at === -1 ? rest : rest.slice(0, at);
  // A model may hold an @; what looks like a host or a path is an address that somebody mistyped, and keys would go elsewhere.
  if (at === -1 && ADDRESS_LIKE.test(rest))
    throw refuse('behind the @ stands no address: write it with http:// or https://');
  if (!MODEL.test(model)) throw refuse('a model has 1 to 256 characters and no spaces');
  return { kind: 'remote', api, provider, model, url: at === -1 ? null : urlOf(rest.slice(at + 1), refuse) };
};

const urlOf = (text: string, refuse: (why: string) => Error): URL => {
  const url = URL.parse(text);
  if (url === null) throw refuse('behind the @ stands no address');
  if (url.username !== '' || url.password !== '')
    throw refuse('the address holds a password; keys come from the environment');
  if (url.search !== '' || url.hash !== '') throw refuse('the address has more than a path');
  return url;
};
