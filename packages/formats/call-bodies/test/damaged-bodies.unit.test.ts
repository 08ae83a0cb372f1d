import {
  chooseBase,
  encodeBody,
  type FrameSource,
  readBody,
  readBodyAt,
  type StoredBody,
} from '@stemma/call-bodies';
import { isStemmaError } from '@stemma/errors';
import { type HistoryEvent, MAX_KEPT, type RecordedBody } from '@stemma/events';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const NONE = new Uint8Array();
const said = (text: string): Uint8Array => Buffer.from(text);
const started = (body: RecordedBody, own: string | null): HistoryEvent =>
  ({
    type: 'CallStarted',
    request: body,
    payload: own === null ? {} : { data_own: own },
  }) as unknown as HistoryEvent;

/** Frames with one event each, of which only so many are read. */
const framesOf = (...events: readonly HistoryEvent[]): FrameSource => {
  let reads = 0;
  const read = (seq: number): HistoryEvent[] => {
    if (reads++ > 100) throw new Error('more is read than there is');
    const event = events[seq];
    return event === undefined ? [] : [event];
  };
  return {
    events: async (seq) => read(seq),
    bytes: async (seqs) => seqs.map((seq) => Buffer.from(JSON.stringify(read(seq)))),
  };
};

const count = fc.oneof(fc.nat({ max: 200 }), fc.constantFrom(2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER));
const hostileBody = fc.record({
  sha256: fc.constant('0'.repeat(64)),
  size: fc.oneof(fc.nat({ max: 200 }), count),
  base: fc.option(
    fc.record({
      seq: fc.nat({ max: 3 }),
      index: fc.nat({ max: 1 }),
      size: count,
      ordinal: count,
      frames: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
    }),
  ),
  pieces: fc.array(
    fc.oneof(
      count.map((size) => [size]),
      fc.tuple(count, count),
    ),
    { maxLength: 5 },
  ),
  encoding: fc.constantFrom('text', 'base64', 'zstd', 'events', 'none'),
}) as fc.Arbitrary<RecordedBody>;
const hostileEvent = fc
  .tuple(hostileBody, fc.option(fc.oneof(fc.string(), fc.base64String())))
  .map(([body, own]) => started(body, own));

test('whatever an event says of a body, reading it ends with a code, and so does to copy from it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostileEvent, { minLength: 1, maxLength: 4 }), async (events) => {
      for (const read of [readBodyAt, chooseBase]) {
        const error = await read({ seq: 0, index: 0 }, framesOf(...events)).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const known = (['E_CALL_BODY_DAMAGED', 'E_CALL_BODY_NOT_KEPT', 'E_CALL_NOT_FOUND'] as const).some(
          (code) => isStemmaError(error, code),
        );
        if (!known) expect.fail(String(error));
      }
    }),
  );
});

test('a body that copies from itself, or from a later one, is damaged, and not followed for ever', async () => {
  const bytes = said('x'.repeat(200));
  const { body } = encodeBody(bytes, { location: { seq: 0, index: 0 }, bytes, ordinal: 0 }, NONE);
  const other = { ...body, base: { ...body.base!, seq: 1 } };
  const damaged = { code: 'E_CALL_BODY_DAMAGED' };
  for (const frames of [[started(body, null)], [started(other, null), started(body, null)]])
    for (const read of [readBodyAt, chooseBase])
      await expect(read({ seq: 0, index: 0 }, framesOf(...frames))).rejects.toMatchObject(damaged);
});

test('one byte that is another is noticed, wherever it is, and the error says nothing of what the body says', async () => {
  const secret = 'sk-a-secret-that-nobody-should-see';
  const bytes = said(`{"messages":[{"role":"user","content":"${secret} ${'and so on '.repeat(90)}"}]}`);
  const { body, own } = encodeBody(bytes, null, said(secret));
  const stored = (text: string): StoredBody => ({ body, own: text, companion: () => said(secret) });
  const source = {
    body: () => Promise.reject(new Error('no base')),
    frames: () => Promise.reject(new Error('no frames')),
  };
  expect(Buffer.compare(await readBody(stored(own!), source), bytes)).toBe(0);
  for (let at = 0; at < own!.length; at++) {
    const other = own!.slice(0, at) + (own![at] === 'A' ? 'B' : 'A') + own!.slice(at + 1);
    const found = await readBody(stored(other), source).then(
      (read) => read,
      (error: unknown) => error as Error,
    );
    // The last letter of base64 has bits that mean nothing.
    if (found instanceof Uint8Array) expect(Buffer.compare(found, bytes)).toBe(0);
    else {
      expect(found).toMatchObject({ code: 'E_CALL_BODY_DAMAGED' });
      expect(JSON.stringify([found.message, found])).not.toContain('secret');
    }
  }
});

test(
  'of a body that is too large hash and size are kept and nothing else, and whoever asks for it is told so',
  { tags: ['calls§2.3'] },
  async () => {
    const bytes = Buffer.alloc(MAX_KEPT + 1, 'a secret ');
    const sha256 = '9'.repeat(64);
    const before = { location: { seq: 0, index: 0 }, bytes: bytes.subarray(0, 1_000), ordinal: 0 };
    for (const given of [bytes, { sha256, size: MAX_KEPT + 1 }]) {
      const { body, own } = encodeBody(given, before, said('a secret'));
      expect(own).toBeNull();
      const size = MAX_KEPT + 1;
      expect(body).toEqual({ sha256: body.sha256, size, base: null, pieces: [], encoding: 'none' });
      expect(body.sha256 === sha256).toBe(given !== bytes);
      const frames = framesOf(started(body, own));
      for (const read of [readBodyAt, chooseBase])
        await expect(read({ seq: 0, index: 0 }, frames)).rejects.toMatchObject({
          code: 'E_CALL_BODY_NOT_KEPT',
          message: expect.stringContaining(`the body had ${size} bytes`) as string,
          detail: { size, sha256: body.sha256 },
        });
    }
  },
);

test(
  'what was taken out of a body is in nothing that is kept of it, though the body before it and its companion have it',
  { tags: ['calls§2.4'] },
  () => {
    const secret = 'sk-a-secret-that-nobody-should-see';
    const request = (key: string, turns: number): Uint8Array =>
      said(
        JSON.stringify({
          messages: Array.from({ length: turns }, (_, i) => ({ role: 'user', content: `turn ${i}: ${key}` })),
        }),
      );
    for (const encoding of ['in a base', 'in a companion', 'in frames'] as const) {
      const base =
        encoding === 'in a companion'
          ? null
          : {
              location: { seq: 0, index: 0 },
              bytes: request(secret, 20),
              ordinal: 0,
              ...(encoding === 'in frames' && { since: { seqs: [1], bytes: said(secret) } }),
            };
      const bytes = request('[redacted]', 21);
      const { body, own } = encodeBody(bytes, base, said(secret));
      const kept = JSON.stringify({ body, own });
      expect(kept).not.toContain(secret);
      expect(Buffer.from(own ?? '', 'base64').toString('latin1')).not.toContain(secret);
      // Each copy is of bytes that the body itself has.
      let at = 0;
      for (const [first = 0, length] of body.pieces) {
        if (length !== undefined) {
          const from = Buffer.concat([base?.bytes ?? NONE, said(secret)]).subarray(first, first + length);
          expect(Buffer.compare(from, bytes.subarray(at, at + length))).toBe(0);
        }
        at += length ?? first;
      }
    }
  },
);
