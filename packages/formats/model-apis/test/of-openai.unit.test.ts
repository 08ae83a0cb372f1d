import type { WideJson } from '@stemma/canonical';
import { describe, expect, it } from 'vitest';
import { apiOf, readAnswer, readRequest, writeRequest } from '../src/index.ts';
import { chatStream } from './streams.ts';

const bytes = (value: WideJson): Uint8Array => Buffer.from(JSON.stringify(value));

describe('Azure', () => {
  it.each([
    ['/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21', 'openai.chat'],
    ['/openai/v1/chat/completions', 'openai.chat'],
    ['/openai/v1/responses?api-version=preview', 'openai.responses'],
    ['/openai/responses?api-version=2025-04-01-preview', 'openai.responses'],
    ['/models/chat/completions?api-version=2024-05-01-preview', 'openai.chat'],
    ['/openai/deployments/my-gpt/embeddings?api-version=2024-10-21', 'other'],
  ])('%s is %s', (path, api) => {
    expect(apiOf('POST', path)).toBe(api);
  });

  it('names no model where its path names a deployment, and filters what it streams', () => {
    const request = bytes({ messages: [{ role: 'user', content: 'Hi' }], stream: true });
    expect(readRequest('openai.chat', request, '/openai/deployments/my-gpt/chat/completions')).toMatchObject({
      ...{ ok: true, model: null, stream: true },
    });
    const stream = chatStream([
      { choices: [], created: 0, id: '', model: '', prompt_filter_results: [{ prompt_index: 0 }] },
      { id: 'c1', model: 'gpt-4o', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] },
      { id: 'c1', model: 'gpt-4o', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ]);
    const answer = readAnswer('openai.chat', { status: 200, contentType: 'text/event-stream' }, stream);
    expect(answer).toMatchObject({ answer: { content: 'Hi' }, finishReason: 'stop', complete: true });
  });
});

describe('Mistral', () => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hmm.' }] };
  const content = [thinking, { type: 'text', text: 'Paris.' }, { type: 'reference', reference_ids: [1] }];

  it('streams chunks of a content, which are its parts', () => {
    const chunk = (value: WideJson, finish: string | null = null) => ({
      ...{ id: 'm1', model: 'magistral-medium' },
      choices: [{ index: 0, delta: { role: 'assistant', content: value }, finish_reason: finish }],
    });
    const thought = (text: string) => chunk([{ type: 'thinking', thinking: [{ type: 'text', text }] }]);
    const stream = chatStream([
      ...[chunk(''), thought('Hm'), thought('m.'), chunk('Par'), chunk('is.')],
      ...[chunk(content.slice(2)), chunk('', 'stop')],
    ]);
    const whole = bytes({
      ...{ id: 'm1', model: 'magistral-medium' },
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    });
    const read = readAnswer('openai.chat', { status: 200, contentType: 'application/json' }, whole);
    expect(read.answer).toEqual({ role: 'assistant', content });
    const streamed = readAnswer('openai.chat', { status: 200, contentType: 'text/event-stream' }, stream);
    expect(streamed.answer).toEqual(read.answer);
  });

  it('gets its thoughts back', () => {
    const messages = [{ role: 'assistant', content }];
    const written = writeRequest('openai.chat', { model: 'm', messages, parameters: {}, tools: [] });
    expect(Buffer.from(written).toString()).toContain(JSON.stringify(content));
  });
});
