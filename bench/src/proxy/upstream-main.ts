import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/*
 * A model that answers at once: a process of its own, so that its time is nobody else's. It knows no more of HTTP than what
 * clients and proxies send here: a head, and a body of a known length.
 */

/** 2 KB, as an answer of a model is. */
const TEXT = 'The weather is what it was, and so is the rest of what you asked for. '.repeat(26);

const ANSWER = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_741_569_952, model: 'gpt-4o' },
  choices: [
    { index: 0, message: { role: 'assistant', content: TEXT }, logprobs: null, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 19, completion_tokens: 410, total_tokens: 429 },
});

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_741_569_952, model: 'gpt-4o' },
    choices: [{ index: 0, delta, finish_reason }],
  })}\n\n`;

const EVENTS = [
  chunk({ role: 'assistant', content: '' }),
  ...Array.from({ length: 10 }, (_, i) => chunk({ content: TEXT.slice(i * 182, (i + 1) * 182) })),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
];

const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(ANSWER)}\r\n\r\n${ANSWER}`;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const pieceOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

const server = createServer({ noDelay: true }, (socket) => {
  let waiting = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (piece) => {
    waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece]);
    for (;;) {
      const head = waiting.indexOf('\r\n\r\n');
      if (head === -1) return;
      const [, length = '0'] = /content-length: *(\d+)/i.exec(waiting.toString('latin1', 0, head)) ?? [];
      const end = head + 4 + Number(length);
      if (waiting.length < end) return;
      const isStream =
        waiting.subarray(head, end).includes('"stream":true') ||
        waiting.subarray(head, end).includes('"stream": true');
      waiting = waiting.subarray(end);
      if (isStream) socket.write(`${HEAD}${EVENTS.map(pieceOf).join('')}0\r\n\r\n`);
      else socket.write(whole);
    }
  });
}).listen(0, '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
