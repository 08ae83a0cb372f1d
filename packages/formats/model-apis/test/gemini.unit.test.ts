import type { WideJson } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  apiOf,
  readAnswer,
  readRequest,
  spliceRequest,
  writeRequest,
  type ModelRequest,
} from '../src/index.ts';

const bytes = (value: WideJson): Uint8Array => Buffer.from(JSON.stringify(value));
const PATH = '/v1beta/models/gemini-2.5-flash:generateContent';

const read = (body: WideJson, path: string | null = PATH): ModelRequest => {
  const request = readRequest('gemini.generate', bytes(body), path);
  if (!request.ok) throw new Error(request.reason);
  return request;
};

const CONVERSATION = {
  systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'Weather in Paris and Rome?' },
        { inlineData: { mimeType: 'image/png', data: 'AA==' } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Two cities.', thought: true },
        { functionCall: { name: 'weather', args: { city: 'Paris' } }, thoughtSignature: 'c2ln' },
        { functionCall: { name: 'weather', args: { city: 'Rome' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'weather', response: { result: 'sunny' } } },
        { functionResponse: { name: 'weather', response: { error: 'no such city' } } },
      ],
    },
  ],
  tools: [{ functionDeclarations: [{ name: 'weather', parameters: { type: 'OBJECT' } }] }],
  generationConfig: { temperature: 0, maxOutputTokens: 99, thinkingConfig: { includeThoughts: true } },
};

describe('a request of Gemini', () => {
  it.each([
    ['/v1beta/models/gemini-2.5-flash:generateContent', 'gemini-2.5-flash', false],
    ['/v1beta/models/gemini-2.5-flash:streamGenerateContent', 'gemini-2.5-flash', true],
    [
      '/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-pro:streamGenerateContent',
      'gemini-2.5-pro',
      true,
    ],
    ['/v1beta1/publishers/google/models/gemini-2.5-pro:generateContent', 'gemini-2.5-pro', false],
    ['/v1beta/tunedModels/mine-1:generateContent', 'mine-1', false],
  ])('%s names its model and whether it streams', (path, model, stream) => {
    expect(apiOf('POST', `${path}?alt=sse&key=k`)).toBe('gemini.generate');
    expect(read(CONVERSATION, path)).toMatchObject({ model, stream });
  });

  it.each([
    '/v1beta/models/gemini-2.5-flash:countTokens',
    '/v1beta/models/gemini-embedding-001:embedContent',
    '/v1beta/models',
    '/v1/projects/p/locations/l/publishers/anthropic/models/claude:rawPredict',
  ])('%s is none', (path) => {
    expect(apiOf('POST', path)).toBe('other');
  });

  it('is read as messages, calls and results with ids of their own', () => {
    expect(read(CONVERSATION)).toEqual({
      ok: true,
      model: 'gemini-2.5-flash',
      stream: false,
      mapping: 'gemini.generate@1',
      previous: null,
      parameters: { generationConfig: CONVERSATION.generationConfig },
      tools: CONVERSATION.tools,
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Weather in Paris and Rome?' },
            { inlineData: { mimeType: 'image/png', data: 'AA==' } },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'thought', thought: 'Two cities.' }],
          tool_calls: [
            {
              id: 'weather:0',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Paris"}' },
              thoughtSignature: 'c2ln',
            },
            {
              id: 'weather:1',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Rome"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'weather:0', name: 'weather', content: '{"result":"sunny"}' },
        { role: 'tool', tool_call_id: 'weather:1', name: 'weather', content: '{"error":"no such city"}' },
      ],
    });
  });

  it('joins the chunks of an answer that a client sends back each as a content', () => {
    const chunk = (...parts: readonly WideJson[]): WideJson => ({ role: 'model', parts });
    const { messages } = read({
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        chunk({ text: 'Hel' }),
        chunk({ text: 'lo ' }),
        chunk({ text: 'you', thoughtSignature: 's' }),
        { parts: [{ text: 'Thanks' }] },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Hello ' },
          { type: 'text', text: 'you', thoughtSignature: 's' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Thanks' }] },
    ]);
  });

  it.each<[string, WideJson, string]>([
    ['without contents', { model: 'x' }, 'E_INPUT_SHAPE'],
    ['with a text as contents', { contents: 'Hi' }, 'E_INPUT_SHAPE'],
    ['with an unknown role', { contents: [{ role: 'assistant', parts: [] }] }, 'E_ROLE_UNKNOWN'],
    [
      'with two system instructions',
      { systemInstruction: { parts: [] }, system_instruction: { parts: [] }, contents: [] },
      'E_INPUT_SHAPE',
    ],
    ['with a system instruction without parts', { systemInstruction: 7, contents: [] }, 'E_INPUT_SHAPE'],
  ])('%s is refused', (_, body, code) => {
    expect(readRequest('gemini.generate', bytes(body), PATH)).toMatchObject({ ok: false, code });
  });

  it('gets a message beside those that it keeps, which have their bytes', () => {
    const text = JSON.stringify(CONVERSATION, null, 1);
    const { messages } = read(CONVERSATION);
    const kept = messages.map((_, keep) => ({ keep }));
    const written = spliceRequest('gemini.generate', Buffer.from(text), [
      { write: { role: 'system', content: 'Be kind.' }, system: true },
      ...kept,
      { write: { role: 'user', content: 'And Oslo?' }, system: false },
    ]);
    if (!written.ok) throw new Error(written.reason);
    const body = JSON.parse(Buffer.from(written.body).toString()) as typeof CONVERSATION;
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be kind.' }, { text: 'Be brief.' }] });
    expect(body.contents[2]?.parts).toEqual([
      ...(CONVERSATION.contents[2]?.parts ?? []),
      { text: 'And Oslo?' },
    ]);
    expect(body.contents.slice(0, 2)).toEqual(CONVERSATION.contents.slice(0, 2));
    expect(Buffer.from(written.body).toString()).toContain('"thoughtSignature": "c2ln"');
  });

  it('that is written says neither its model nor whether it streams', () => {
    const written = writeRequest('gemini.generate', {
      model: 'gemini-2.5-flash',
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'a text' },
      ],
      parameters: {},
      tools: [],
    });
    expect(JSON.parse(Buffer.from(written).toString())).toEqual({
      contents: [
        { role: 'model', parts: [{ functionCall: { id: 'call_1', name: 'look', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'call_1', name: 'look', response: { result: 'a text' } } }],
        },
      ],
    });
  });
});

const CHUNKS = [
  {
    candidates: [{ content: { role: 'model', parts: [{ text: 'It is', thought: true }] }, index: 0 }],
    modelVersion: 'gemini-2.5-flash',
    responseId: 'r1',
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  },
  { candidates: [{ content: { role: 'model', parts: [{ text: ' easy.', thought: true }] }, index: 0 }] },
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Look' }] }, index: 0 }] },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'ing é.' },
            { functionCall: { name: 'look', args: { at: 'x' } }, thoughtSignature: 's' },
          ],
        },
        index: 0,
      },
    ],
  },
  {
    candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: 9,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 3,
      toolUsePromptTokenCount: 2,
      totalTokenCount: 19,
    },
  },
];
const SAID = {
  answer: {
    role: 'assistant',
    content: [
      { type: 'thought', thought: 'It is easy.' },
      { type: 'text', text: 'Looking é.' },
      { type: 'text', text: '' },
    ],
    tool_calls: [
      {
        id: 'look:0',
        type: 'function',
        function: { name: 'look', arguments: '{"at":"x"}' },
        thoughtSignature: 's',
        before: 2,
      },
    ],
  },
  finishReason: 'STOP',
  model: 'gemini-2.5-flash',
  id: 'r1',
  usage: { input: 11, output: 8, cached: 4, cacheWrite: null, reasoning: 3 },
  error: null,
  complete: true,
  pending: false,
};
const SSE = CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('');
const LIST = `[${CHUNKS.map((chunk) => JSON.stringify(chunk, null, 2)).join('\n,\r\n')}]`;
const answer = (text: string, contentType: string, status = 200) =>
  readAnswer('gemini.generate', { status, contentType }, Buffer.from(text));

describe('an answer of Gemini', () => {
  it.each([
    ['as events', SSE, 'text/event-stream'],
    ['as a list', LIST, 'application/json; charset=UTF-8'],
  ])('that is streamed %s is read', (_, text, contentType) => {
    expect(answer(text, contentType)).toEqual(SAID);
  });

  it('that is whole is read, with its other candidates', () => {
    const body = {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'A' }] }, finishReason: 'STOP' },
        { content: { role: 'model', parts: [{ text: 'B' }] }, finishReason: 'STOP', index: 1 },
      ],
    };
    expect(answer(JSON.stringify(body), 'application/json')).toMatchObject({
      answer: { role: 'assistant', content: [{ type: 'text', text: 'A' }] },
      others: [{ role: 'assistant', content: [{ type: 'text', text: 'B' }] }],
      usage: null,
      complete: true,
    });
  });

  it.each([
    ['events', SSE, 'text/event-stream'],
    ['a list', LIST, 'application/json'],
  ])('that is cut off, or damaged, in %s is never complete, and throws nothing', (_, text, contentType) => {
    const whole = Buffer.from(text);
    for (let end = 0; end < whole.length - 120; end += 7)
      expect(
        readAnswer('gemini.generate', { status: 200, contentType }, whole.subarray(0, end)).complete,
      ).toBe(false);
  });

  it('that is cut off behind a chunk says what came', () => {
    expect(answer(SSE.slice(0, SSE.indexOf('data: ', 400)), 'text/event-stream')).toMatchObject({
      answer: { role: 'assistant' },
      finishReason: null,
      complete: false,
    });
  });

  it.each<[string, WideJson, number, WideJson]>([
    [
      'an error',
      { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } },
      400,
      { code: 'INVALID_ARGUMENT', message: 'API key not valid.' },
    ],
    [
      'an error in a list',
      [{ error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED' } }],
      429,
      { code: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded.' },
    ],
    [
      'a blocked prompt',
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 7 } },
      200,
      { code: 'PROHIBITED_CONTENT', message: 'the API blocked the prompt: PROHIBITED_CONTENT' },
    ],
  ])('that is %s says so', (_, body, status, error) => {
    expect(answer(JSON.stringify(body), 'application/json', status).error).toEqual(error);
  });

  test('whatever it is, nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.constantFrom('[', '{"candidates":[', 'data: '),
        (tail, head) => {
          readAnswer(
            'gemini.generate',
            { status: 200, contentType: null },
            Buffer.concat([Buffer.from(head), tail]),
          );
        },
      ),
    );
  });
});
