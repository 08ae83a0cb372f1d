import type { WideJson } from '@stemma/canonical';
import { describe, expect, it } from 'vitest';
import { apiOf, comparableMessage, readAnswer, readRequest } from '../src/index.ts';
import { namedStream } from './streams.ts';

const head = { status: 200, contentType: 'application/json' };
const bytes = (value: WideJson): Uint8Array => Buffer.from(JSON.stringify(value));
const CALL = { id: 'look_1', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } };
const USAGE = {
  billed_units: { input_tokens: 5, output_tokens: 7 },
  tokens: { input_tokens: 71, output_tokens: 9 },
  cached_tokens: 32,
};

const said = (type: string, index: number, message: WideJson) => ({ type, index, delta: { message } });
const EVENTS = namedStream([
  {
    ...{ type: 'message-start', id: 'c1' },
    delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
  },
  { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I will ' } } },
  { type: 'tool-plan-delta', delta: { message: { tool_plan: 'look.' } } },
  said('content-start', 0, { content: { type: 'thinking', thinking: '' } }),
  said('content-delta', 0, { content: { thinking: 'Hmm.' } }),
  { type: 'content-end', index: 0 },
  said('content-start', 1, { content: { type: 'text', text: '' } }),
  said('content-delta', 1, { content: { text: 'Look' } }),
  said('content-delta', 1, { content: { text: 'ing é.' } }),
  said('citation-start', 0, { citations: { start: 0, end: 4, text: 'Look', sources: [] } }),
  { type: 'citation-end', index: 0 },
  { type: 'content-end', index: 1 },
  said('tool-call-start', 0, { tool_calls: { ...CALL, function: { name: 'look', arguments: '' } } }),
  said('tool-call-delta', 0, { tool_calls: { function: { arguments: '{"at":' } } }),
  said('tool-call-delta', 0, { tool_calls: { function: { arguments: '"x"}' } } }),
  { type: 'tool-call-end', index: 0 },
  { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage: USAGE } },
]);
const ANSWER = {
  role: 'assistant',
  tool_plan: 'I will look.',
  content: [
    { type: 'thinking', thinking: 'Hmm.' },
    { type: 'text', text: 'Looking é.' },
  ],
  tool_calls: [CALL],
  citations: [{ start: 0, end: 4, text: 'Look', sources: [] }],
};

describe('Cohere’s second API', () => {
  it('is read as OpenAI’s chat API is, with a plan and citations', () => {
    expect(apiOf('POST', '/v2/chat')).toBe('cohere.chat');
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look.' },
      { role: 'assistant', tool_plan: 'I will look.', tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'look_1', content: [{ type: 'document', document: { data: '7' } }] },
    ];
    const request = bytes({ model: 'command-a', messages, stream: true, p: 0.5, tools: [] });
    expect(readRequest('cohere.chat', request)).toEqual({
      ...{ ok: true, model: 'command-a', stream: true, parameters: { p: 0.5 }, tools: [], messages },
      ...{ mapping: 'cohere.chat@1', previous: null },
    });
  });

  it('is read whole and streamed alike', () => {
    const whole = bytes({ id: 'c1', finish_reason: 'TOOL_CALL', message: ANSWER, usage: USAGE });
    const streamed = readAnswer('cohere.chat', { status: 200, contentType: 'text/event-stream' }, EVENTS);
    expect(streamed).toEqual({
      answer: ANSWER,
      ...{ finishReason: 'TOOL_CALL', model: null, id: 'c1', error: null, complete: true, pending: false },
      usage: { input: 71, output: 9, cached: 32, cacheWrite: null, reasoning: null },
    });
    expect(readAnswer('cohere.chat', head, whole)).toEqual(streamed);
  });

  it('is the same message when a client sends it back with nulls', () => {
    const sent = { ...ANSWER, content: [...ANSWER.content], audio: null };
    expect(comparableMessage(sent)).toBe(comparableMessage(ANSWER));
  });

  it('cut off anywhere is never complete', () => {
    for (let end = 0; end < EVENTS.length - 40; end += 9) {
      const cut = EVENTS.subarray(0, end);
      expect(readAnswer('cohere.chat', { status: 200, contentType: 'text/event-stream' }, cut)).toMatchObject(
        {
          ...{ complete: false, error: null },
        },
      );
    }
  });

  it('says its errors', () => {
    const refused = bytes({ id: 'e1', message: 'invalid api token' });
    expect(readAnswer('cohere.chat', { ...head, status: 401 }, refused)).toMatchObject({
      ...{ answer: null, error: { code: null, message: 'invalid api token' } },
    });
    const failed = namedStream([
      { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant' } } },
      { type: 'message-end', delta: { finish_reason: 'ERROR', error: 'the model is gone' } },
    ]);
    expect(
      readAnswer('cohere.chat', { status: 200, contentType: 'text/event-stream' }, failed).error,
    ).toEqual({
      ...{ code: 'ERROR', message: 'the model is gone' },
    });
  });
});
