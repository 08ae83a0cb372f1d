import { echo, fail, isStemmaError, type StemmaError } from '@stemma/errors';
import { repeatUntilDone } from './ask-mind.ts';
import { decodedBody } from './decoded-body.ts';
import { addressOf, endpointOf, refusalText, type MindEndpoint } from './endpoint.ts';
import { exchangeWith, type Exchanged } from './exchange.ts';
import { limitsOf, openGate, type MindLimits } from './limits.ts';
import { mindSurroundings, type MindOptions } from './open-mind.ts';
import { parseMind, type MindName } from './parse-mind.ts';
import { readEmbeddings } from './read-embeddings.ts';
import { retryOf } from './retry-after.ts';
import { textWithoutKey } from './without-key.ts';

/** A model that gives texts vectors. */
export type Embedder = {
  /** As it was named: `openai:text-embedding-x`. It holds no key. */
  readonly spec: string;
  /**
   * The vector of each text, in single precision. Texts are sent in several requests if they are many; if one of them fails for good, none
   * has a vector.
   *
   * @param dimension the numbers that each vector must have; null: whatever the first one has
   * @throws E_MIND_UNREACHABLE, E_MIND_TIMEOUT, E_MIND_BUSY, E_MIND_FAILED, E_MIND_REFUSED, E_MIND_ANSWER_TOO_LARGE, E_CANCELLED,
   * E_EMBEDDING_INVALID for an answer that is not one vector of finite numbers for each text, all of one dimension
   */
  readonly embed: (
    texts: readonly string[],
    dimension: number | null,
    signal: AbortSignal,
  ) => Promise<readonly Float32Array[]>;
};

/** Texts, and characters of them, in one request. A text that is longer is a request of its own. */
const MOST_TEXTS = 64;
const MOST_CHARACTERS = 200_000;

/** The endpoint and model that a text such as `openai:text-embedding-x@https://example.org/v1` names. @throws E_EMBEDDER_INVALID */
export const parseEmbedder = (spec: string): Extract<MindName, { kind: 'remote' }> => {
  const refuse = (why: string): Error =>
    fail('E_EMBEDDER_INVALID', `${JSON.stringify(echo(spec))} names no embedder: ${why}`);
  let name: MindName;
  try {
    name = parseMind(spec);
  } catch (error) {
    if (!isStemmaError(error, 'E_MIND_INVALID')) throw error;
    throw refuse('write openai:MODEL, with @URL or not');
  }
  if (name.kind !== 'remote' || name.api !== 'openai.chat')
    throw refuse('vectors are asked of the form openai:MODEL, with @URL or not');
  return name;
};

/**
 * A model behind an endpoint of the form of OpenAI's (`POST …/embeddings`). Its key comes from the environment, as those of minds do;
 * time-outs, tries and pauses are those of minds.
 *
 * @throws E_EMBEDDER_INVALID, E_MIND_INVALID for an address that a key must not go to, E_MIND_ELSEWHERE where only
 * `OPENAI_BASE_URL` says where it is, E_MIND_KEY_MISSING, E_USAGE for a limit that is none
 */
export const openEmbedder = (spec: string, options: MindOptions = {}): Embedder => {
  const around = mindSurroundings(options);
  const { provider, url, model } = parseEmbedder(spec);
  const limits = { ...limitsOf(around.env), ...options.limits };
  const asked = { provider, url, path: PATH };
  refuseElsewhere(spec, asked, around.env);
  const endpoint = endpointOf(asked, around.env);
  const gate = openGate(limits, around);
  const ask = async (
    texts: readonly string[],
    dimension: number | null,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> => {
    const request = new TextEncoder().encode(
      JSON.stringify({ model, input: texts, encoding_format: 'float' }),
    );
    const wanted = { texts: texts.length, dimension };
    const attempt = await repeatUntilDone(
      () =>
        gate(signal, async () =>
          attemptOf(
            endpoint,
            await exchangeWith(endpoint, request, limits, { signal, now: around.now }),
            limits,
            wanted,
          ),
        ).catch((error: unknown) => {
          if (!signal.aborted) throw error;
          return { vectors: null, error: fail('E_CANCELLED', 'the embedding was cancelled'), retry: null };
        }),
      { ...around, limits, signal },
    );
    if (attempt.vectors === null)
      throw fail(attempt.error.code, textWithoutKey(attempt.error.message, endpoint.key));
    return attempt.vectors;
  };
  return {
    spec,
    embed: async (texts, dimension, signal) => {
      const found: Float32Array[] = [];
      for (const part of partsOf(texts))
        found.push(...(await ask(part, dimension ?? found[0]?.length ?? null, signal)));
      return found;
    },
  };
};

const PATH = '/embeddings';

/**
 * An embedder without an address is the provider's own, whoever asks it later: recorded texts go elsewhere only if a variable of
 * Stemma's says so, not one that other programs share.
 *
 * @throws E_MIND_ELSEWHERE
 */
const refuseElsewhere = (
  spec: string,
  asked: Parameters<typeof addressOf>[0],
  env: Parameters<typeof addressOf>[1],
): void => {
  const there = addressOf(asked, env);
  const usual = addressOf(asked, {});
  if (there.isNamed || there.url.origin === usual.url.origin) return;
  const [named, own] = [there, usual].map(({ url }) => `${spec}@${url.href.slice(0, -PATH.length)}`);
  throw fail(
    'E_MIND_ELSEWHERE',
    `the embedder ${spec} names no address, and the texts would go to ${there.url.origin}: name it as ${named} or ${own}`,
    { recorded: usual.url.origin, target: there.url.origin },
  );
};

/** The texts of each request. */
const partsOf = (texts: readonly string[]): readonly (readonly string[])[] => {
  const parts: string[][] = [];
  let characters = 0;
  for (const text of texts) {
    const last = parts.at(-1);
    if (last === undefined || last.length === MOST_TEXTS || characters + text.length > MOST_CHARACTERS) {
      parts.push([text]);
      characters = text.length;
    } else {
      last.push(text);
      characters += text.length;
    }
  }
  return parts;
};

type Attempt = { readonly retry: { readonly after: number | null } | null } & (
  | { readonly vectors: readonly Float32Array[]; readonly error: null }
  | { readonly vectors: null; readonly error: StemmaError }
);

const attemptOf = async (
  endpoint: MindEndpoint,
  exchanged: Exchanged,
  limits: MindLimits,
  wanted: { readonly texts: number; readonly dimension: number | null },
): Promise<Attempt> => {
  const { origin } = endpoint.url;
  const { head, body, error } = exchanged;
  const failed = (why: StemmaError, code: string | null = null): Attempt => ({
    vectors: null,
    error: why,
    retry: retryOf(exchanged, code, Date.now),
  });
  if (error !== null || head === null || body === null)
    return failed(error ?? fail('E_MIND_UNREACHABLE', `${origin} answered nothing`));
  const plain = await decodedBody(body, head.coding, limits.answer);
  const said = plain === null ? null : jsonIn(plain);
  if (head.status < 200 || head.status > 299) {
    const { code, message } = errorIn(said);
    return failed(refusalOf(endpoint, head.status, message), code);
  }
  if (plain === null)
    return failed(fail('E_EMBEDDING_INVALID', `${origin} answers in a coding that cannot be undone`));
  const read = readEmbeddings(said, wanted);
  return typeof read === 'string'
    ? failed(fail('E_EMBEDDING_INVALID', `what ${origin} answers are not the vectors of the texts: ${read}`))
    : { vectors: read, error: null, retry: null };
};

const refusalOf = (endpoint: MindEndpoint, status: number, message: string | null): StemmaError => {
  const { origin } = endpoint.url;
  const said = message === null ? '' : `: ${echo(message, 300)}`;
  if (status === 429) return fail('E_MIND_BUSY', `${origin} takes no more requests now (429)${said}`);
  if (status >= 500) return fail('E_MIND_FAILED', `${origin} failed (${status})${said}`);
  if (status >= 400) return fail('E_MIND_REFUSED', refusalText(endpoint, status, said));
  return fail('E_MIND_REFUSED', `${origin} answers ${status} with another address, where no key is sent`);
};

const jsonIn = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
};

/** The code and the message of an error in the form of OpenAI's. */
const errorIn = (said: unknown): { readonly code: string | null; readonly message: string | null } => {
  const { error } = (typeof said === 'object' && said !== null ? said : {}) as { readonly error?: unknown };
  if (typeof error === 'string') return { code: null, message: error };
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  return {
    code: typeof code === 'string' ? code : null,
    message: typeof message === 'string' ? message : null,
  };
};
