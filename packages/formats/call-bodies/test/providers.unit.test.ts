import {
  chooseBase,
  encodeBody,
  type FrameSource,
  readBodyAt,
  requestCompanion,
  responseCompanion,
} from '@stemma/call-bodies';
import type { WideJson } from '@stemma/canonical';
import type { HistoryEvent } from '@stemma/events';
import { expect, test } from 'vitest';

type Said = readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];

/** How a provider writes a conversation and its answer, each with something that no writer of JSON would keep. */
type Provider = {
  readonly request: (said: Said) => string;
  readonly response: (text: string) => string;
  readonly stream: (text: string) => string;
  /** What is recorded as the answer. */
  readonly answer: (text: string) => WideJson;
};

const ids = { model: 'm-1', key: 'é \\u00e9 "quoted"\n' };
const pieces = (text: string): readonly string[] => text.match(/.{1,5}/gs) ?? [];
const sse = (name: string | null, data: object): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const PROVIDERS: Readonly<Record<string, Provider>> = {
  'openai.chat': {
    request: (said) =>
      `{ "model": "${ids.model}",\r\n "messages": [ ${said.map(({ role, text }) => JSON.stringify({ role, content: text }, null, 1)).join(' , ')} ], "n": 1.0 }`,
    response: (text) =>
      `{"id":"c","choices":[{"message":{"role":"assistant","content":${JSON.stringify(text)}}}], "usage" : {"total_tokens":1e1}}\n`,
    stream: (text) =>
      `${pieces(text)
        .map((content) => sse(null, { id: 'c', choices: [{ index: 0, delta: { content } }] }))
        .join('')}data: [DONE]\n\n`,
    answer: (text) => ({ role: 'assistant', content: text }),
  },
  'openai.responses': {
    request: (said) =>
      `{"input":[${said.map(({ role, text }) => `{"role":"${role}","content":[{"type":"${role === 'user' ? 'input' : 'output'}_text","text":${JSON.stringify(text)}}]}`).join()}],"model":"${ids.model}"}`,
    response: (text) =>
      JSON.stringify({ output: [{ type: 'message', content: [{ type: 'output_text', text }] }] }, null, '\t'),
    stream: (text) =>
      pieces(text)
        .map((delta, i) => sse('response.output_text.delta', { sequence_number: i, item_id: 'msg', delta }))
        .join(''),
    answer: (text) => ({ role: 'assistant', content: text }),
  },
  'anthropic.messages': {
    request: (said) =>
      JSON.stringify({
        max_tokens: 10,
        system: [{ type: 'text', text: ids.key, cache_control: { type: 'ephemeral' } }],
        messages: said.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })),
      }),
    response: (text) => `{"type":"message","content":[{"type":"text","text":${JSON.stringify(text)}}]}`,
    stream: (text) =>
      `${sse('message_start', { type: 'message_start', message: { id: 'msg' } })}: ping\n\n${pieces(text)
        .map((piece) => sse('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } }))
        .join('')}`,
    answer: (text) => ({ role: 'assistant', content: [{ type: 'text', text }] }),
  },
  'of another provider': {
    request: (said) => said.map(({ role, text }) => `${role}\0${text}\xff`).join('\x1e'),
    response: (text) => `\x89PNG\r\n${text}\0`,
    stream: (text) => `data:${text}\r\rdata: {"a":\n\n`,
    answer: () => null,
  },
};

/** A history of calls: each frame has a message that is inserted, the attempt, and its end. */
const recorded = () => {
  const frames: HistoryEvent[][] = [];
  const source: FrameSource = {
    events: (seq) => Promise.resolve(frames[seq] as HistoryEvent[]),
    bytes: (seqs) => Promise.resolve(seqs.map((seq) => Buffer.from(JSON.stringify(frames[seq])))),
  };
  return {
    source,
    add: async (request: Uint8Array, inserted: string, response: Uint8Array, answer: WideJson) => {
      const seq = frames.length;
      const node = { type: 'NodeInserted', node: { content: inserted } } as unknown as HistoryEvent;
      const base = seq === 0 ? null : await chooseBase({ seq: seq - 1, index: 1 }, source);
      const asked = encodeBody(request, base, requestCompanion([node]));
      const ended = encodeBody(response, null, responseCompanion(answer));
      const own = (encoded: { readonly own: string | null }): object =>
        encoded.own === null ? {} : { data_own: encoded.own };
      frames.push([
        node,
        { type: 'CallStarted', request: asked.body, payload: own(asked) } as unknown as HistoryEvent,
        {
          type: 'CallFinished',
          response: ended.body,
          payload: { ...own(ended), ...(answer !== null && { data_answer: answer }) },
        } as unknown as HistoryEvent,
      ]);
      return seq;
    },
  };
};

const latin1 = (text: string): Uint8Array =>
  Buffer.from(text, text.includes('\xff') || text.includes('\x89') ? 'latin1' : 'utf8');

test.for(Object.entries(PROVIDERS))(
  'requests, answers and streams %s are given back byte for byte, whichever of them is read',
  { tags: ['calls§2.1'] },
  async ([, { request, response, stream, answer }]) => {
    const { source, add } = recorded();
    const said: { role: 'user' | 'assistant'; text: string }[] = [];
    const bodies: { request: Uint8Array; response: Uint8Array }[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const text = `${ids.key} ${turn}: ${'what was said '.repeat(turn % 7)}`;
      said.push({ role: 'user', text });
      // Now and then an agent forgets what it said first, and the messages behind that stand elsewhere.
      if (turn % 6 === 5) said.splice(0, 3);
      const one = {
        request: latin1(request(said)),
        response: latin1(turn % 2 === 0 ? response(text) : stream(text)),
      };
      await add(one.request, text, one.response, answer(text));
      bodies.push(one);
      said.push({ role: 'assistant', text });
    }
    for (const [seq, body] of [...bodies.entries()].reverse()) {
      expect(Buffer.compare(await readBodyAt({ seq, index: 1 }, source), body.request)).toBe(0);
      expect(Buffer.compare(await readBodyAt({ seq, index: 2 }, source), body.response)).toBe(0);
    }
    const nothing = { code: 'E_CALL_NOT_FOUND' };
    await expect(readBodyAt({ seq: 0, index: 0 }, source)).rejects.toMatchObject(nothing);
    await expect(readBodyAt({ seq: 0, index: 9 }, source)).rejects.toMatchObject(nothing);
  },
);

test.for(Object.entries(PROVIDERS))(
  'a stream %s that ends anywhere is given back as it came, whatever its lines end with',
  { tags: ['calls§2.6'] },
  async ([, { stream, answer }]) => {
    const text = 'Grüße, "quoted" \\ 🙂.';
    for (const lineEnd of ['\n', '\r\n']) {
      const whole = latin1(stream(text).replaceAll('\n', lineEnd));
      const { source, add } = recorded();
      for (let end = 0; end <= whole.length; end++) {
        const seq = await add(Buffer.alloc(0), '', whole.subarray(0, end), answer(text));
        const found = await readBodyAt({ seq, index: 2 }, source);
        if (Buffer.compare(found, whole.subarray(0, end)) !== 0) expect.fail(`cut at byte ${end}`);
      }
    }
  },
);
