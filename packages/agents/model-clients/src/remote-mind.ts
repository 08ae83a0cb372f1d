import { echo, fail, type StemmaError } from '@stemma/errors';
import { readAnswer, type ModelAnswer } from '@stemma/model-apis';
import { decodedBody } from './decoded-body.ts';
import { addressOf, endpointOf, pathOf, refusalText, type MindEndpoint } from './endpoint.ts';
import { exchangeWith, type Exchanged } from './exchange.ts';
import { openGate, type MindLimits } from './limits.ts';
import type { Mind, MindApi, MindAttempt, MindSurroundings, MindTarget } from './mind.ts';
import type { MindName } from './parse-mind.ts';
import { retryOf } from './retry-after.ts';
import { bytesWithoutKey, textWithoutKey } from './without-key.ts';

/** A model behind HTTP. @throws E_MIND_INVALID, E_MIND_KEY_MISSING */
export const openRemoteMind = (
  spec: string,
  name: Extract<MindName, { kind: 'remote' }>,
  limits: MindLimits,
  around: MindSurroundings,
): Mind => {
  const endpoint = endpointOf({ ...name, path: pathOf(name.api, name.model) }, around.env);
  const gate = openGate(limits, around);
  const { api, model } = name;
  return {
    spec,
    api,
    model,
    target: targetAt(endpoint),
    attempt: async (request, signal) => {
      try {
        return await gate(signal, async () =>
          attemptOf(
            api,
            endpoint,
            await exchangeWith(endpoint, request, limits, { signal, now: around.now }),
            limits,
          ),
        );
      } catch (error) {
        if (!signal.aborted) throw error;
        return CANCELLED;
      }
    },
  };
};

/** Where the requests of a mind go, whether or not there is a key for it. @throws E_MIND_INVALID */
export const remoteTargetOf = (
  name: Extract<MindName, { kind: 'remote' }>,
  env: MindSurroundings['env'],
): MindTarget => targetAt(addressOf({ ...name, path: pathOf(name.api, name.model) }, env));

const targetAt = ({ url, isNamed }: Pick<MindEndpoint, 'url' | 'isNamed'>): MindTarget => ({
  origin: url.origin,
  path: url.pathname,
  isNamed,
});

/** It was given up while it waited for its turn. */
const CANCELLED: MindAttempt = {
  status: 'cancelled',
  httpStatus: null,
  response: null,
  head: null,
  answer: null,
  sentAt: null,
  firstByteMs: null,
  durationMs: 0,
  error: { code: 'E_CANCELLED', message: 'the call was cancelled before it was sent' },
  retry: null,
};

const attemptOf = async (
  api: MindApi,
  endpoint: MindEndpoint,
  exchanged: Exchanged,
  limits: MindLimits,
): Promise<MindAttempt> => {
  const { key } = endpoint;
  const { head, sentAt, firstByteMs, durationMs } = exchanged;
  const response = exchanged.body === null ? null : bytesWithoutKey(exchanged.body, key);
  const answer = head === null || response === null ? null : await answerIn(api, head, response, limits);
  const error = exchanged.error ?? refusal(endpoint, head?.status ?? 502, answer);
  const retry = error === null ? null : retryOf(exchanged, answer?.error?.code ?? null, Date.now);
  return {
    status: statusOf(error),
    httpStatus: head?.status ?? null,
    response,
    head: head && { contentType: head.contentType, coding: head.coding, retryAfter: head.retryAfter },
    answer,
    sentAt,
    firstByteMs,
    durationMs,
    error: error === null ? null : { code: error.code, message: textWithoutKey(error.message, key) },
    retry,
  };
};

const answerIn = async (
  api: MindApi,
  head: NonNullable<Exchanged['head']>,
  response: Uint8Array,
  limits: MindLimits,
): Promise<ModelAnswer | null> => {
  const plain = await decodedBody(response, head.coding, limits.answer);
  return plain === null ? null : readAnswer(api, head, plain);
};

const statusOf = (error: StemmaError | null): MindAttempt['status'] => {
  if (error === null) return 'answered';
  if (error.code === 'E_CANCELLED') return 'cancelled';
  return error.code === 'E_MIND_TIMEOUT' ? 'timed out' : 'failed';
};

/** Why a whole body is no answer; null: it is one. */
const refusal = (endpoint: MindEndpoint, status: number, answer: ModelAnswer | null): StemmaError | null => {
  const { origin } = endpoint.url;
  const said = answer?.error == null ? '' : `: ${echo(answer.error.message, 300)}`;
  if (status >= 300 && status < 400)
    return fail('E_MIND_REFUSED', `${origin} answers ${status} with another address, where no key is sent`);
  if (status === 429) return fail('E_MIND_BUSY', `${origin} takes no more requests now (429)${said}`);
  if (status >= 500) return fail('E_MIND_FAILED', `${origin} failed (${status})${said}`);
  if (status >= 400) return fail('E_MIND_REFUSED', refusalText(endpoint, status, said));
  if (answer === null)
    return fail('E_MIND_ANSWER_INVALID', `${origin} answers in a coding that cannot be undone`);
  if (answer.error !== null)
    return fail('E_MIND_ANSWER_INVALID', `what ${origin} answers is no answer of its API${said}`);
  if (!answer.complete) return fail('E_MIND_ANSWER_INVALID', `the answer of ${origin} ends in the middle`);
  if (answer.answer === null)
    return fail('E_MIND_ANSWER_INVALID', `the answer of ${origin} holds no message`);
  return null;
};
