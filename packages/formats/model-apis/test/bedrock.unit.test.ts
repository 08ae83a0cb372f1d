import { joinBytes, type WideJson } from '@stemma/canonical';
import { describe, expect, it } from 'vitest';
import { apiOf, awsMessage, comparableMessage, readAnswer, readRequest } from '../src/index.ts';

const bytes = (value: WideJson): Uint8Array => Buffer.from(JSON.stringify(value));
const JSON_HEAD = { status: 200, contentType: 'application/json' };
const AWS_HEAD = { status: 200, contentType: 'application/vnd.amazon.eventstream' };
const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const PATH = `/model/${encodeURIComponent(MODEL)}/converse-stream`;

const event = (type: string, payload: WideJson): Uint8Array =>
  awsMessage({
    headers: { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    payload: bytes(payload),
  });
const exception = (type: string, message: string): Uint8Array =>
  awsMessage({
    headers: { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    payload: bytes({ message }),
  });

const delta = (contentBlockIndex: number, value: WideJson): Uint8Array =>
  event('contentBlockDelta', { contentBlockIndex, delta: value, p: 'abcd' });
const STREAM = [
  event('messageStart', { role: 'assistant', p: 'ab' }),
  delta(0, { reasoningContent: { text: 'Hm' } }),
  delta(0, { reasoningContent: { text: 'm.' } }),
  delta(0, { reasoningContent: { signature: 'c2ln' } }),
  event('contentBlockStop', { contentBlockIndex: 0 }),
  delta(1, { text: 'Look' }),
  delta(1, { text: 'ing é.' }),
  event('contentBlockStop', { contentBlockIndex: 1 }),
  event('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'look' } } }),
  delta(2, { toolUse: { input: '{"at":' } }),
  delta(2, { toolUse: { input: '"x"}' } }),
  event('contentBlockStop', { contentBlockIndex: 2 }),
  event('messageStop', { stopReason: 'tool_use' }),
  event('metadata', {
    usage: {
      ...{ inputTokens: 30, outputTokens: 12, totalTokens: 162, cacheReadInputTokens: 100 },
      ...{ cacheWriteInputTokens: 20, cacheDetails: [{ ttl: '1h', inputTokens: 20 }] },
    },
    metrics: { latencyMs: 9 },
  }),
];
const CALL = { id: 't1', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } };
const SAID = {
  answer: {
    role: 'assistant',
    content: [
      { reasoningContent: { reasoningText: { text: 'Hmm.', signature: 'c2ln' } } },
      { type: 'text', text: 'Looking é.' },
    ],
    tool_calls: [CALL],
  },
  ...{ finishReason: 'tool_use', model: null, id: null, error: null, complete: true, pending: false },
  usage: { input: 150, output: 12, cached: 100, cacheWrite: 20, cacheWrite1h: 20, reasoning: null },
};

describe('Bedrock’s Converse', () => {
  it('is read, with the model of its path', () => {
    const body = {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [
        {
          role: 'user',
          content: [{ text: 'Look.' }, { image: { format: 'png', source: { bytes: 'AA==' } } }],
        },
        {
          role: 'assistant',
          content: [{ text: 'I look.' }, { toolUse: { toolUseId: 't1', name: 'look', input: { at: 'x' } } }],
        },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 't1', content: [{ json: { a: 1 } }], status: 'error' } }],
        },
      ],
      toolConfig: {
        tools: [{ toolSpec: { name: 'look', inputSchema: { json: {} } } }],
        toolChoice: { auto: {} },
      },
      inferenceConfig: { maxTokens: 9 },
    };
    expect(apiOf('POST', PATH)).toBe('bedrock.converse');
    expect(readRequest('bedrock.converse', bytes(body), PATH)).toEqual({
      ...{ ok: true, model: MODEL, stream: true, previous: null, mapping: 'bedrock.converse@1' },
      parameters: { inferenceConfig: { maxTokens: 9 }, toolConfig: { toolChoice: { auto: {} } } },
      tools: body.toolConfig.tools,
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
        },
        {
          role: 'user',
          content: [{ type: 'text', text: 'Look.' }, { image: { format: 'png', source: { bytes: 'AA==' } } }],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'I look.' }], tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 't1', content: [{ json: { a: 1 } }], status: 'error' },
      ],
    });
  });

  it('is the same message with and without a mark of the cache', () => {
    const text = { type: 'text', text: 'Look.' };
    expect(comparableMessage({ role: 'user', content: [text, { cachePoint: { type: 'default' } }] })).toBe(
      comparableMessage({ role: 'user', content: [text] }),
    );
  });

  it('is answered whole and streamed alike', () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hmm.', signature: 'c2ln' } } },
      { text: 'Looking é.' },
      { toolUse: { toolUseId: 't1', name: 'look', input: { at: 'x' } } },
    ];
    const whole = {
      output: { message: { role: 'assistant', content } },
      stopReason: 'tool_use',
      usage: {
        ...{ inputTokens: 30, outputTokens: 12, cacheReadInputTokens: 100, cacheWriteInputTokens: 20 },
        cacheDetails: [{ ttl: '1h', inputTokens: 20 }],
      },
    };
    expect(readAnswer('bedrock.converse', JSON_HEAD, bytes(whole))).toEqual(SAID);
    expect(readAnswer('bedrock.converse', AWS_HEAD, joinBytes(STREAM))).toEqual(SAID);
    expect(readAnswer('bedrock.converse', { status: 200, contentType: null }, joinBytes(STREAM))).toEqual(
      SAID,
    );
  });

  it('cut off anywhere is never complete, and says what came', () => {
    const whole = joinBytes(STREAM);
    for (let end = 0; end < whole.length; end += 11)
      expect(readAnswer('bedrock.converse', AWS_HEAD, whole.subarray(0, end))).toMatchObject({
        complete: false,
        error: null,
      });
    expect(readAnswer('bedrock.converse', AWS_HEAD, joinBytes(STREAM.slice(0, 7)))).toMatchObject({
      answer: { content: [{}, { text: 'Looking é.' }] },
    });
  });

  it('damaged says where, and what came before', () => {
    const whole = joinBytes(STREAM);
    const at = joinBytes(STREAM.slice(0, 7)).length;
    whole[at + 40] = (whole[at + 40] as number) ^ 1;
    expect(readAnswer('bedrock.converse', AWS_HEAD, whole)).toMatchObject({
      answer: { content: [{}, { text: 'Looking é.' }] },
      error: { code: 'E_INPUT_SHAPE', message: `the event at byte ${at} has a wrong checksum` },
      complete: false,
    });
  });

  it('says its errors, also in the middle of a stream', () => {
    const refused = bytes({ message: 'The security token is invalid.' });
    expect(readAnswer('bedrock.converse', { ...JSON_HEAD, status: 403 }, refused).error).toEqual({
      ...{ code: null, message: 'The security token is invalid.' },
    });
    const failed = joinBytes([...STREAM.slice(0, 6), exception('throttlingException', 'Too many tokens.')]);
    expect(readAnswer('bedrock.converse', AWS_HEAD, failed)).toMatchObject({
      error: { code: 'throttlingException', message: 'Too many tokens.' },
      complete: false,
    });
  });
});

const INVOKE = '/model/anthropic.claude-3-haiku-20240307-v1%3A0/invoke-with-response-stream';
const chunk = (value: WideJson): Uint8Array =>
  event('chunk', { bytes: Buffer.from(JSON.stringify(value)).toString('base64'), p: 'ab' });

describe('Bedrock’s InvokeModel', () => {
  const body = {
    ...{ anthropic_version: 'bedrock-2023-05-31', max_tokens: 9 },
    messages: [{ role: 'user', content: 'Hi' }],
  };

  it('is read where its body is of Anthropic’s API', () => {
    expect(apiOf('POST', INVOKE)).toBe('bedrock.invoke');
    expect(readRequest('bedrock.invoke', bytes(body), INVOKE)).toMatchObject({
      ...{ ok: true, model: 'anthropic.claude-3-haiku-20240307-v1:0', stream: true },
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(readRequest('bedrock.invoke', bytes({ inputText: 'Hi' }), INVOKE)).toMatchObject({
      ...{ ok: false, code: 'E_INPUT_SHAPE' },
    });
  });

  it('has the events of Anthropic’s API in its chunks', () => {
    const stream = joinBytes([
      chunk({
        type: 'message_start',
        message: { id: 'm1', role: 'assistant', content: [], usage: { input_tokens: 3 } },
      }),
      chunk({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
      chunk({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      chunk({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 3 } }),
    ]);
    expect(readAnswer('bedrock.invoke', AWS_HEAD, stream)).toMatchObject({
      answer: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      ...{ finishReason: 'end_turn', usage: { input: 3, output: 2 }, complete: true, error: null },
    });
  });

  it('of another model is no error: its bytes are all that is kept', () => {
    const nothing = { answer: null, error: null, complete: true };
    expect(readAnswer('bedrock.invoke', JSON_HEAD, bytes({ results: [{ outputText: 'Hi' }] }))).toMatchObject(
      nothing,
    );
    expect(readAnswer('bedrock.invoke', AWS_HEAD, chunk({ outputText: 'Hi' }))).toMatchObject(nothing);
  });
});
