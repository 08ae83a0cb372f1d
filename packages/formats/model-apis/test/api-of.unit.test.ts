import fc from 'fast-check';
import { expect, it } from 'vitest';
import { apiOf } from '../src/index.ts';

it.each([
  ['POST', '/v1/chat/completions', 'openai.chat'],
  ['POST', '/chat/completions', 'openai.chat'],
  ['post', '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21', 'openai.chat'],
  ['POST', '/v1/responses', 'openai.responses'],
  ['POST', '/proxy/h/mine/v1/responses/', 'openai.responses'],
  ['POST', '/v1/messages', 'anthropic.messages'],
  ['POST', '/v1/messages?beta=true', 'anthropic.messages'],
  ['POST', '/messages#part', 'anthropic.messages'],
  ['GET', '/v1/chat/completions', 'other'],
  ['POST', '/v1/messages/count_tokens', 'other'],
  ['POST', '/v1/messages/batches', 'other'],
  ['GET', '/v1/responses/resp_1', 'other'],
  ['POST', '/v1/responses/resp_1/cancel', 'other'],
  ['POST', '/v1/threads/thread_1/messages', 'other'],
  ['POST', '/h/threads/v1/messages', 'anthropic.messages'],
  ['POST', '/v1/completions', 'other'],
  ['POST', '/v1/embeddings?to=/v1/messages', 'other'],
  ['POST', 'xmessages', 'other'],
  ['POST', '', 'other'],
])('%s %s calls the API %s', (method, path, api) => {
  expect(apiOf(method, path)).toBe(api);
});

it('every method and path has an answer', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (method, path) => {
      expect(apiOf(method, path)).toBe('other');
    }),
  );
});
