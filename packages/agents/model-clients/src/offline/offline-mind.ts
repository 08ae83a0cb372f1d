import { canonicalJson, sha256Hex } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { readAnswer, readRequest, textOfContent, type ModelRequest } from '@stemma/model-apis';
import { fail } from '@stemma/errors';
import type { Mind, MindAttempt } from '../mind.ts';
import { markovText } from './markov-text.ts';

/** Words of an answer unless the request has a limit. */
const MOST_WORDS = 60;

/**
 * A mind without a network: it answers in words of what it is shown, chosen as a Markov model says. The same request has the same
 * answer, to the byte, on every machine. A `seed` in the request counts before its own.
 */
export const openOfflineMind = (spec: string, seed: number): Mind => ({
  spec,
  api: 'openai.chat',
  model: 'offline',
  target: null,
  attempt: async (request, signal) => {
    try {
      signal.throwIfAborted();
      const read = readRequest('openai.chat', request);
      if (!read.ok) throw fail('E_MIND_REFUSED', `the request cannot be read: ${read.reason}`);
      const response = answerTo(request, read, seed);
      const answer = readAnswer('openai.chat', { status: 200, contentType: 'application/json' }, response);
      return { ...NOTHING, status: 'answered', httpStatus: 200, response, answer };
    } catch (error) {
      const known = isStemmaError(error) ? error : fail('E_CANCELLED', 'the call was cancelled');
      const status = known.code === 'E_CANCELLED' ? 'cancelled' : 'failed';
      return { ...NOTHING, status, error: { code: known.code, message: known.message } };
    }
  },
});

/** It takes no time that anybody should compare. */
const NOTHING: MindAttempt = {
  status: 'failed',
  httpStatus: null,
  response: null,
  head: null,
  answer: null,
  sentAt: null,
  firstByteMs: 0,
  durationMs: 0,
  error: null,
  retry: null,
};

/** What it learns its words from: instructions only where there is nothing else. */
const spoken = (messages: ModelRequest['messages']): ModelRequest['messages'] => {
  const others = messages.filter(
    ({ role, content }) => role !== 'system' && role !== 'developer' && textOfContent(content).trim() !== '',
  );
  return others.length > 0 ? others : messages;
};

const answerTo = (
  request: Uint8Array,
  { messages, parameters }: Pick<ModelRequest, 'messages' | 'parameters'>,
  own: number,
): Uint8Array => {
  const limit = parameters['max_completion_tokens'] ?? parameters['max_tokens'];
  const most =
    typeof limit === 'number' && Number.isInteger(limit) ? Math.max(1, Math.min(limit, 10_000)) : MOST_WORDS;
  const seed = canonicalJson(parameters['seed'] ?? own);
  const shown = spoken(messages).map(({ content }) => textOfContent(content));
  const { text, words, isWhole } = markovText(shown, `${seed}\n${canonicalJson([...messages])}`, most);
  const prompt = shown.join(' ').split(/\s+/).length;
  const body = {
    id: `offline-${sha256Hex(request).slice(0, 24)}`,
    object: 'chat.completion',
    created: 0,
    model: 'offline',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text },
        finish_reason: isWhole || limit === undefined ? 'stop' : 'length',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: words, total_tokens: prompt + words },
  };
  return new TextEncoder().encode(JSON.stringify(body));
};
