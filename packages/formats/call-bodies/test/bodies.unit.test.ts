import {
  type BaseBody,
  type BodySource,
  cutPieces,
  encodeBody,
  chooseBase,
  readBody,
  readBodyAt,
  requestCompanion,
  type StoredBody,
} from '@stemma/call-bodies';
import type { HistoryEvent, RecordedBody } from '@stemma/events';
import { sha256Hex } from '@stemma/canonical';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const location = { seq: 1, index: 2 };
const none = new Uint8Array();

const edited = fc
  .tuple(
    fc.array(fc.uint8Array({ minLength: 0, maxLength: 300 }), { maxLength: 12 }),
    fc.array(fc.oneof(fc.nat({ max: 11 }), fc.uint8Array({ maxLength: 200 })), { maxLength: 14 }),
  )
  .map(([parts, plan]) => ({
    base: Buffer.concat(parts),
    body: Buffer.concat(plan.map((step) => (typeof step === 'number' ? (parts[step] ?? none) : step))),
  }));

const noBase: BodySource = {
  body: () => Promise.reject(new Error('no base')),
  frames: () => Promise.reject(new Error('no frames')),
};
const read = (body: RecordedBody, own: string | null): Promise<Uint8Array> =>
  readBody({ body, own, companion: () => none }, noBase);

test('a body is read as it was written, whatever it shares with those before it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(edited, { minLength: 1, maxLength: 6 }),
      fc.uint8Array({ maxLength: 400 }),
      async (list, companion) => {
        const stored: StoredBody[] = [];
        let before: Uint8Array | undefined;
        for (const bytes of list.flatMap(({ base, body }) => [base, body])) {
          const seq = stored.length - 1;
          const from: BaseBody | null =
            before === undefined
              ? null
              : {
                  location: { seq, index: 0 },
                  bytes: before,
                  ordinal: 0,
                  ...(seq % 3 === 1 && { since: { seqs: [0, 1], bytes: Buffer.from('what frames hold') } }),
                };
          stored.push({ ...encodeBody(bytes, from, companion), companion: () => companion });
          before = bytes;
          const last = stored.at(-1) as StoredBody;
          const found = await readBody(last, {
            body: (location) => Promise.resolve(stored[location.seq] as StoredBody),
            frames: () => Promise.resolve([Buffer.from('what '), Buffer.from('frames hold')]),
          });
          expect(Buffer.compare(found, bytes)).toBe(0);
        }
      },
    ),
  );
});

test('pieces cover the body, and copies say what the base has', () => {
  fc.assert(
    fc.property(edited, ({ base, body }) => {
      let at = 0;
      for (const [first, length] of cutPieces(base, body)) {
        if (length !== undefined)
          expect(Buffer.compare(base.subarray(first, first + length), body.subarray(at, at + length))).toBe(
            0,
          );
        at += length ?? first;
      }
      expect(at).toBe(body.length);
    }),
  );
});

test('the next request of a conversation costs what it adds, wherever the messages stand', () => {
  const messages = Array.from({ length: 1_000 }, (_, i) => ({
    role: 'user',
    content: `${sha256Hex(Buffer.from(String(i)))} said ${i}`,
  }));
  const request = (count: number) =>
    Buffer.from(
      JSON.stringify({ model: 'm', messages: messages.slice(0, count), tools: [{ name: 'x'.repeat(500) }] }),
    );
  const { body, own } = encodeBody(request(1_000), { location, bytes: request(999), ordinal: 0 }, none);
  expect(body.pieces.length).toBeLessThan(5);
  expect((own ?? '').length).toBeLessThan(150);
  const shortened = Buffer.from(
    JSON.stringify({
      model: 'm',
      messages: [...messages.slice(0, 10), { role: 'user', content: 'a summary' }, ...messages.slice(700)],
    }),
  );
  expect(
    (encodeBody(shortened, { location, bytes: request(1_000), ordinal: 0 }, none).own ?? '').length,
  ).toBeLessThan(300);
});

test(
  'the last request of a long conversation is read from few events, and says nothing twice',
  { tags: ['calls§2.5'] },
  async () => {
    const frames: HistoryEvent[][] = [];
    const bytesOf = (seq: number): Uint8Array => Buffer.from(JSON.stringify(frames[seq]));
    const reads = { events: 0, bytes: 0 };
    const source = {
      events: (seq: number) => Promise.resolve((reads.events++, frames[seq] as HistoryEvent[])),
      bytes: (seqs: readonly number[]) => Promise.resolve((reads.bytes++, seqs.map(bytesOf))),
    };
    const said = (i: number): string =>
      Array.from({ length: 8 }, (_, k) => sha256Hex(Buffer.from(`${i} ${k}`))).join(' "so"\n');
    const request = (count: number): Uint8Array =>
      Buffer.from(
        JSON.stringify({ messages: Array.from({ length: count }, (_, i) => said(i)), tools: ['x'] }),
      );
    const calls = 200;
    let own = 0;
    for (let i = 0; i < calls; i++) {
      const inserted = { type: 'NodeInserted', node: { content: said(i) } } as unknown as HistoryEvent;
      const base = i === 0 ? null : await chooseBase({ seq: i - 1, index: 1 }, source);
      const encoded = encodeBody(request(i + 1), base, requestCompanion([inserted]));
      own += encoded.own?.length ?? 0;
      const payload = encoded.own === null ? {} : { data_own: encoded.own };
      const started = { type: 'CallStarted', request: encoded.body, payload } as unknown as HistoryEvent;
      frames.push([inserted, started]);
    }
    for (const i of [0, 7, 8, 63, 64, calls - 1]) {
      Object.assign(reads, { events: 0, bytes: 0 });
      const found = await readBodyAt({ seq: i, index: 1 }, source);
      expect(Buffer.compare(found, request(i + 1))).toBe(0);
      const digits = Array.from(i.toString(8), Number);
      expect(reads.events).toBe(1 + digits.reduce((sum, digit) => sum + digit, 0));
    }
    // All that was said has 100 kB.
    expect(own).toBeLessThan(20_000);
  },
);

test('bytes that a reader of the event knows anyway cost nearly nothing', () => {
  const answer = Array.from({ length: 40 }, (_, i) => sha256Hex(Buffer.from(`${i}`))).join(' ');
  const bytes = Buffer.from(
    JSON.stringify({ choices: [{ message: { role: 'assistant', content: answer } }] }),
  );
  const { own, body } = encodeBody(
    bytes,
    null,
    Buffer.from(JSON.stringify({ content: answer, role: 'assistant' })),
  );
  expect((own ?? '').length).toBeLessThan(150);
  expect(body.encoding).toBe('text');
});

test('damaged pieces are refused with a code', async () => {
  const bytes = Buffer.from('x'.repeat(1_000) + 'y'.repeat(100));
  const { body, own } = encodeBody(bytes, null, none);
  const refused = { code: 'E_CALL_BODY_DAMAGED' };
  await expect(read({ ...body, sha256: '0'.repeat(64) }, own)).rejects.toMatchObject(refused);
  await expect(read(body, own === null ? null : `A${own.slice(1)}`)).rejects.toMatchObject(refused);
  await expect(read({ ...body, pieces: [[0, 1_100]] }, null)).rejects.toMatchObject(refused);
});
