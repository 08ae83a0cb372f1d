import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readExchangeEnd } from './record-exchange.ts';

const at = (path: string) => ({ method: 'POST', path });
const CHAT = at('/v1/chat/completions');
const RESPONSES = at('/v1/responses');

const endOf = (
  request: typeof CHAT,
  body: string | Uint8Array,
  { status = 'answered', contentType = 'application/json', coding = null as string | null } = {},
) =>
  readExchangeEnd(request, {
    status: status as 'answered' | 'cancelled',
    ...{ firstByteMs: 1, durationMs: 2, error: null },
    response: { form: 'wire', httpStatus: 200, contentType, coding, body: Buffer.from(body) },
  });

const STREAM = { contentType: 'text/event-stream' };
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

test.each(['queued', 'in_progress'])(
  'a response that goes on in the background (%s) has not failed: its end is unknown',
  { tags: ['calls§1.3'] },
  async (state) => {
    const response = { id: 'resp_1', model: 'm', status: state, background: true, output: [] };
    expect(await endOf(RESPONSES, JSON.stringify(response))).toMatchObject({
      status: 'unknown',
      error: null,
    });
    const events = `data: ${JSON.stringify({ type: 'response.created', response })}\n\n`;
    expect(await endOf(RESPONSES, events, STREAM)).toMatchObject({ status: 'unknown', error: null });
    const foreground = JSON.stringify({ ...response, background: false });
    expect(await endOf(RESPONSES, foreground)).toMatchObject({ status: 'failed' });
  },
);

test('a stream that says why it ended is answered without its last event; one that does not is cut off, and that is said', async () => {
  const said = chunk({ content: 'Yes' }) + chunk({}, 'stop');
  expect(await endOf(CHAT, said, STREAM)).toMatchObject({ status: 'answered', error: null });
  expect(await endOf(CHAT, chunk({ content: 'Ye' }), STREAM)).toMatchObject({
    status: 'failed',
    error: { code: 'E_INPUT_TRUNCATED' },
    answer: { content: 'Ye' },
  });
});

const events = chunk({ content: 'Yes '.repeat(500) }) + chunk({}, 'stop') + 'data: [DONE]\n\n';
const flushed = {
  gzip: gzipSync(events).subarray(0, -8),
  br: brotliCompressSync(events, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }).subarray(0, -1),
  zstd: zstdCompressSync(events, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }).subarray(0, -4),
};

test.each(Object.entries(flushed))(
  'a client may leave at the event that ends a stream, though its coding (%s) has no end yet',
  { tags: ['calls§4.3'] },
  async (coding, body) => {
    expect(await endOf(CHAT, body, { ...STREAM, status: 'cancelled', coding })).toMatchObject({
      status: 'answered',
      answer: { content: 'Yes '.repeat(500) },
    });
  },
);
