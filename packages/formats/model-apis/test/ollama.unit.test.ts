import type { WideJson } from '@stemma/canonical';
import { describe, expect, it } from 'vitest';
import {
  apiOf,
  keptAtProvider,
  readAnswer,
  readRequest,
  spliceRequest,
  writeRequest,
  type ReadApi,
} from '../src/index.ts';

const bytes = (value: WideJson): Uint8Array => Buffer.from(JSON.stringify(value));
const read = (api: ReadApi, body: WideJson) => {
  const request = readRequest(api, bytes(body));
  if (!request.ok) throw new Error(request.reason);
  return request;
};
const call = (name: string, given: WideJson) => ({ function: { name, arguments: given } });
const readCall = (id: string, name: string, given: string) => ({
  ...{ id, type: 'function', function: { name, arguments: given } },
});

describe('a chat of Ollama', () => {
  it('streams unless it says otherwise', () => {
    expect(apiOf('POST', '/api/chat')).toBe('ollama.chat');
    expect(read('ollama.chat', { model: 'm', messages: [] }).stream).toBe(true);
    expect(read('ollama.chat', { model: 'm', messages: [], stream: false }).stream).toBe(false);
  });

  it('is read with ids for its calls, by which their results are found', () => {
    const messages = [
      { role: 'user', content: 'Weather?', images: ['AA=='] },
      {
        ...{ role: 'assistant', content: '', thinking: 'Two.' },
        tool_calls: [call('weather', { city: 'Paris' }), call('weather', { city: 'Rome' }), call('time', {})],
      },
      { role: 'tool', content: 'sunny', tool_name: 'weather' },
      { role: 'tool', content: 'rain', tool_name: 'weather' },
      { role: 'tool', content: '12:00' },
    ];
    const request = read('ollama.chat', {
      model: 'qwen3',
      messages,
      options: { temperature: 0 },
      think: true,
    });
    expect(request).toMatchObject({
      ...{ model: 'qwen3', mapping: 'ollama.chat@1' },
      parameters: { options: { temperature: 0 }, think: true },
    });
    expect(request.messages).toEqual([
      messages[0],
      {
        ...{ role: 'assistant', content: '', thinking: 'Two.' },
        tool_calls: [
          readCall('weather:0', 'weather', '{"city":"Paris"}'),
          readCall('weather:1', 'weather', '{"city":"Rome"}'),
          readCall('time:0', 'time', '{}'),
        ],
      },
      { role: 'tool', tool_call_id: 'weather:0', name: 'weather', content: 'sunny' },
      { role: 'tool', tool_call_id: 'weather:1', name: 'weather', content: 'rain' },
      { role: 'tool', tool_call_id: 'time:0', content: '12:00' },
    ]);
    const written = writeRequest('ollama.chat', { ...request, model: 'qwen3', stream: false });
    expect(JSON.parse(Buffer.from(written).toString())).toEqual({
      ...{ model: 'qwen3', messages, options: { temperature: 0 }, think: true, stream: false },
    });
  });

  const LINES = [
    {
      model: 'qwen3',
      created_at: 't',
      message: { role: 'assistant', content: '', thinking: 'Hm' },
      done: false,
    },
    {
      model: 'qwen3',
      created_at: 't',
      message: { role: 'assistant', content: '', thinking: 'm.' },
      done: false,
    },
    { model: 'qwen3', created_at: 't', message: { role: 'assistant', content: 'Look' }, done: false },
    { model: 'qwen3', created_at: 't', message: { role: 'assistant', content: 'ing é.' }, done: false },
    {
      ...{ model: 'qwen3', created_at: 't', done: false },
      message: { role: 'assistant', content: '', tool_calls: [call('look', { at: 'x' })] },
    },
    {
      ...{ model: 'qwen3', created_at: 't', message: { role: 'assistant', content: '' }, done: true },
      ...{ done_reason: 'stop', total_duration: 9, prompt_eval_count: 12, eval_count: 7 },
    },
  ];
  const TEXT = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
  const SAID = {
    answer: {
      ...{ role: 'assistant', content: 'Looking é.', thinking: 'Hmm.' },
      tool_calls: [readCall('look:0', 'look', '{"at":"x"}')],
    },
    ...{ finishReason: 'stop', model: 'qwen3', id: null, error: null, complete: true, pending: false },
    usage: { input: 12, output: 7, cached: null, cacheWrite: null, reasoning: null },
  };

  it.each(['application/x-ndjson', 'application/json', null])('streamed as %s is read', (contentType) => {
    expect(readAnswer('ollama.chat', { status: 200, contentType }, Buffer.from(TEXT))).toEqual(SAID);
  });

  it('that is whole is read', () => {
    const body = { ...LINES.at(-1), message: { role: 'assistant', content: 'Hi' } };
    const answer = readAnswer('ollama.chat', { status: 200, contentType: 'application/json' }, bytes(body));
    expect(answer).toMatchObject({
      answer: { role: 'assistant', content: 'Hi' },
      complete: true,
      error: null,
    });
  });

  it('cut off anywhere is never complete, and says what came', () => {
    const whole = Buffer.from(TEXT);
    const head = { status: 200, contentType: 'application/x-ndjson' };
    for (let end = 5; end < whole.length - 2; end += 5)
      expect(readAnswer('ollama.chat', head, whole.subarray(0, end))).toMatchObject({
        complete: false,
        error: null,
      });
    expect(readAnswer('ollama.chat', head, whole.subarray(0, whole.length - 30)).answer).toMatchObject({
      content: 'Looking é.',
    });
  });

  it('says its errors, also behind lines', () => {
    const error = bytes({ error: 'model "x" not found' });
    expect(readAnswer('ollama.chat', { status: 404, contentType: 'application/json' }, error)).toMatchObject({
      error: { code: null, message: 'model "x" not found' },
      complete: true,
    });
    const behind = `${JSON.stringify(LINES[2])}\n{"error":"runner crashed"}\n`;
    expect(
      readAnswer('ollama.chat', { status: 200, contentType: 'application/x-ndjson' }, Buffer.from(behind)),
    ).toMatchObject({ answer: { content: 'Look' }, error: { message: 'runner crashed' }, complete: false });
    const damaged = `${JSON.stringify(LINES[2])}\n{"x":\n${JSON.stringify(LINES[3])}\n`;
    expect(
      readAnswer('ollama.chat', { status: 200, contentType: 'application/x-ndjson' }, Buffer.from(damaged)),
    ).toMatchObject({ answer: { content: 'Look' }, complete: false });
  });
});

describe('a prompt of Ollama', () => {
  const body = { model: 'llama3', system: 'Be brief.', prompt: 'Hi', context: [1, 2], options: {} };

  it('is a message of the user, behind that of the system', () => {
    const request = read('ollama.generate', body);
    expect(request).toMatchObject({
      ...{ model: 'llama3', stream: true, parameters: { context: [1, 2], options: {} } },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    });
    expect(keptAtProvider('ollama.generate', request.parameters)).toEqual(['context']);
    const written = writeRequest('ollama.generate', { ...request, model: 'llama3', stream: true });
    expect(JSON.parse(Buffer.from(written).toString())).toEqual({ ...body, stream: true });
  });

  it.each<[string, WideJson]>([
    ['without a prompt', { model: 'llama3', keep_alive: 0 }],
    ['with a system prompt that is no text', { prompt: 'Hi', system: 7 }],
  ])('%s is refused', (_, given) => {
    expect(readRequest('ollama.generate', bytes(given))).toMatchObject({ ok: false, code: 'E_INPUT_SHAPE' });
  });

  it('takes no conversation', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Bye' },
    ];
    expect(() =>
      writeRequest('ollama.generate', { model: 'm', messages, parameters: {}, tools: [] }),
    ).toThrow('name the mind as ollama:MODEL');
    const spliced = spliceRequest('ollama.generate', bytes(body), [
      { keep: 0 },
      { keep: 1 },
      { write: { role: 'assistant', content: 'x' }, system: false },
    ]);
    expect(spliced).toMatchObject({ ok: false, code: 'E_INPUT_SHAPE' });
  });

  it('gets other texts, and keeps the bytes of the rest', () => {
    const splice = (...messages: Parameters<typeof spliceRequest>[2]) => {
      const done = spliceRequest('ollama.generate', bytes(body), messages);
      return done.ok ? Buffer.from(done.body).toString() : done.reason;
    };
    const text = JSON.stringify(body);
    const write = (role: string, content: string) => ({
      write: { role, content },
      system: role === 'system',
    });
    expect(splice({ keep: 0 }, write('user', 'Bye'))).toBe(text.replace('"Hi"', '"Bye"'));
    expect(splice({ keep: 1 })).toBe(text.replace('"system":"Be brief.",', ''));
    expect(splice({ keep: 0 }, write('system', 'And kind.'), { keep: 1 })).toBe(
      text.replace('Be brief.', String.raw`Be brief.\n\nAnd kind.`),
    );
  });

  it('is answered in lines, or whole', () => {
    const lines = ['Hel', 'lo'].map((response) => ({ model: 'llama3', response, done: false }));
    const end = {
      model: 'llama3',
      response: '',
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 3,
      eval_count: 2,
    };
    const text = [...lines, end].map((line) => JSON.stringify(line)).join('\n');
    const head = { status: 200, contentType: 'application/x-ndjson' };
    expect(readAnswer('ollama.generate', head, Buffer.from(text))).toMatchObject({
      answer: { role: 'assistant', content: 'Hello' },
      ...{ finishReason: 'stop', usage: { input: 3, output: 2 }, complete: true },
    });
    expect(
      readAnswer('ollama.generate', { status: 200, contentType: null }, bytes({ ...end, response: 'Hi' })),
    ).toMatchObject({ answer: { content: 'Hi' }, complete: true });
  });
});
