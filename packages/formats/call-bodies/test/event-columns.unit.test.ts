import { encodeBody, readBody } from '@stemma/call-bodies';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromColumns, toColumns } from '../src/event-columns.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('"', '\\', '\0', '\n', '":'),
);
const value = fc.oneof(text, fc.integer(), fc.double(), fc.nat({ max: 3 }), fc.constant(null));
const event = fc
  .tuple(fc.constantFrom('data: ', 'event: a\ndata: ', ': ', ''), fc.dictionary(text, value, { maxKeys: 4 }))
  .map(([head, fields]) => `${head}${JSON.stringify(fields)}`);
/** Events of few shapes, some cut off, some with line ends of another kind, and whatever else comes. */
const stream = fc
  .tuple(
    fc.array(event, { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat({ max: 3 }), { maxLength: 40 }),
    fc.constantFrom('\n\n', '\r\n\r\n', '\n'),
    text,
  )
  .map(([events, order, end, rest]) =>
    Buffer.from(order.map((i) => `${events[i % events.length] ?? ''}${end}`).join('') + rest),
  );

test('columns of a stream give its bytes back, whatever they are', () => {
  fc.assert(
    fc.property(fc.oneof(stream, fc.uint8Array({ maxLength: 300 })), (bytes) => {
      const columns = toColumns(bytes);
      if (columns === undefined) return;
      expect(Buffer.compare(fromColumns(columns, bytes.length), bytes)).toBe(0);
      expect(() => fromColumns(columns, bytes.length - 1)).toThrow(RangeError);
    }),
  );
});

test('damaged columns are refused, and never become more than the stream was', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (columns) => {
      let made: Uint8Array | undefined;
      try {
        made = fromColumns(columns, 1_000);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
      expect(made?.length ?? 0).toBeLessThanOrEqual(1_000);
    }),
  );
});

/** What three APIs stream when they say a text in pieces of four characters. */
const pieces = (said: string): string[] => said.match(/.{1,4}/gs) ?? [];
const SAID = Array.from({ length: 200 }, (_, i) => `w${((i * 7919) % 1013).toString(36)}`).join(' ');
const STREAMS: Readonly<Record<string, string>> = {
  'openai.chat': pieces(SAID)
    .map(
      (content) =>
        `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
    )
    .concat('data: [DONE]\n\n')
    .join(''),
  'openai.responses': pieces(SAID)
    .map(
      (delta, i) =>
        `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', sequence_number: i, item_id: 'msg_1', output_index: 0, content_index: 0, delta })}\n\n`,
    )
    .join(''),
  'anthropic.messages': pieces(SAID)
    .map(
      (piece) =>
        `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } })}\n\n`,
    )
    .join(''),
};

test.for(Object.entries(STREAMS))(
  'a stream of %s takes little more than what it says, and that stands in its answer',
  { tags: ['calls§2.6'] },
  async ([, sent]) => {
    const bytes = Buffer.from(sent);
    const companion = Buffer.from(JSON.stringify({ content: SAID, role: 'assistant' }));
    const encoded = encodeBody(bytes, null, companion);
    expect(encoded.body.encoding).toBe('events');
    expect(encoded.own?.length).toBeLessThan(SAID.length / 4);
    const source = { body: () => Promise.reject(new Error()), frames: () => Promise.reject(new Error()) };
    const found = await readBody({ ...encoded, companion: () => companion }, source);
    expect(Buffer.compare(found, bytes)).toBe(0);
    await expect(
      readBody({ ...encoded, own: 'KLUv/QRYBQAAYQ==', companion: () => companion }, source),
    ).rejects.toMatchObject({ code: 'E_CALL_BODY_DAMAGED' });
  },
);
