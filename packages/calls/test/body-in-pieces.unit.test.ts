import { cutPieces, encodeBody, readBody, type StoredBody } from '@stemma/calls';
import type { RecordedBody } from '@stemma/events';
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

const noBase = (): Promise<StoredBody> => Promise.reject(new Error('no base'));
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
          const from =
            before === undefined ? null : { location: { seq: stored.length - 1, index: 0 }, bytes: before };
          stored.push({ ...encodeBody(bytes, from, companion), companion: () => companion });
          before = bytes;
          const last = stored.at(-1) as StoredBody;
          const found = await readBody(last, ({ seq }) => Promise.resolve(stored[seq] as StoredBody));
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
  const { body, own } = encodeBody(request(1_000), { location, bytes: request(999) }, none);
  expect(body.pieces.length).toBeLessThan(5);
  expect((own ?? '').length).toBeLessThan(150);
  const shortened = Buffer.from(
    JSON.stringify({
      model: 'm',
      messages: [...messages.slice(0, 10), { role: 'user', content: 'a summary' }, ...messages.slice(700)],
    }),
  );
  expect((encodeBody(shortened, { location, bytes: request(1_000) }, none).own ?? '').length).toBeLessThan(
    300,
  );
});

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
