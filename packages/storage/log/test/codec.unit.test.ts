import {
  compareCodePoints,
  ContentRef,
  fromHex,
  pack,
  toHex,
  unpack,
  type Packable,
} from '@stemma/canonical';
import type { StemmaEvent } from '@stemma/events';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkEvents, EVENT_TYPES } from '../src/check-events.ts';
import {
  boundsOf,
  decodeEnvelope,
  encodeEnvelope,
  encodeFrame,
  openRecord,
  sealRecord,
} from '../src/index.ts';
import { isReadAs } from '../src/body.ts';
import { upcast, type Upcaster } from '../src/upcast.ts';
import { decodeFrame as decode } from './decode-frame.ts';
import { sampleBody, sampleEnvelope, SAMPLES } from './samples.ts';

const runs = (usual: number): number => Number(process.env['STEMMA_RUNS'] ?? usual);

type Corpus = {
  readonly version: number;
  readonly frames: readonly { readonly event: string; readonly frame: string }[];
};
const folder = new URL('../corpus/', import.meta.url);
const corpora = readdirSync(folder)
  .sort(compareCodePoints)
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Corpus);
/** The vector of the newest shape of an event. */
const vectorOf = (type: string): string | undefined =>
  corpora
    .findLast(({ frames }) => frames.some(({ event }) => event === type))
    ?.frames.find(({ event }) => event === type)?.frame;

describe('the bytes of frames', () => {
  it('of every earlier version can still be read', { tags: ['record§2:upcasters'] }, () => {
    expect(corpora.map(({ version }) => version)).toEqual([1, 2]);
    for (const { version, frames } of corpora)
      for (const { frame } of frames)
        expect(decode(fromHex(frame))).toMatchObject({ envelope: { v: version } });
  });

  it(
    'of the first version say of a call that nobody knows where it went',
    { tags: ['record§2:upcasters'] },
    () => {
      const [first] = corpora;
      const firstOf = (type: string) => {
        const { frame } = first!.frames.find(({ event }) => event === type)!;
        return (decode(fromHex(frame)) as { body: { events: unknown[] } }).body.events[0];
      };
      const newest = (type: string) => SAMPLES.find((event) => event.type === type);
      expect(firstOf('CallStarted')).toEqual({ ...newest('CallStarted'), sent: null });
      expect(firstOf('CallFinished')).toEqual({
        ...newest('CallFinished'),
        ...{ choices: null, sentAt: null, head: null },
      });
    },
  );

  it(
    'hold no event of a later version than their own, neither written nor read',
    { tags: ['record§2:upcasters'] },
    () => {
      const event = SAMPLES.find(({ type }) => type === 'CallStarted')!;
      expect(() => encodeFrame(sampleEnvelope(0), sampleBody([event]))).toThrow(invalid);
      const raw = event as unknown as Record<string, Packable>;
      const frame = frameOf({ ...plainBody, recorder: 'r', events: [raw] });
      expect(() => decode(frame)).toThrow(invalid);
    },
  );

  it(
    'equal the corpus for every event type, and stay the same when they are decoded and encoded again',
    { tags: ['record§1:golden-bytes', 'record§1:frame'] },
    () => {
      // The events of the first version, in their order; behind them those that the second one brought.
      const written = corpora.flatMap(({ frames }) => frames.map(({ event }) => event));
      expect([...new Set(written)]).toEqual(SAMPLES.map(({ type }) => type));
      expect([...EVENT_TYPES].sort(compareCodePoints)).toEqual(
        SAMPLES.map(({ type }) => type as string).sort(compareCodePoints),
      );
      SAMPLES.forEach((event, i) => {
        const [envelope, body] = [sampleEnvelope(i, [event]), sampleBody([event])];
        const bytes = encodeFrame(envelope, body).bytes;
        expect(toHex(bytes)).toBe(vectorOf(event.type));
        expect(decode(bytes)).toEqual({ envelope, body });
      });
    },
  );

  it(
    'are told from others that would be read as something else, without being decoded',
    { tags: ['record§3:checked-before-append'] },
    () => {
      const asGiven = SAMPLES.filter((event, i) => {
        const [envelope, body] = [sampleEnvelope(i, [event]), sampleBody([event])];
        const encoded = encodeFrame(envelope, body);
        const { bodyAt } = decodeEnvelope(encoded.bytes)!;
        expect(isReadAs(encoded, envelope.v, bodyAt, { ...body, at: body.at + 1n })).toBe(false);
        if (!isReadAs(encoded, envelope.v, bodyAt, body)) return false;
        expect(decode(encoded.bytes)).toEqual({ envelope, body });
        return true;
      });
      expect(asGiven.length).toBeGreaterThan(SAMPLES.length / 2);
      const payload = { content: 'x'.repeat(300_000) };
      const large = sampleBody([{ type: 'NodeReplaced', id: 'block-1', fields: ['content'], payload }]);
      const encoded = encodeFrame(sampleEnvelope(0), large);
      expect(encoded.contents).toHaveLength(1);
      expect(isReadAs(encoded, 1, decodeEnvelope(encoded.bytes)!.bodyAt, large)).toBe(false);
    },
  );

  it('that no reader reads are refused by their writer', { tags: ['record§3:checked-before-append'] }, () => {
    const body = { ...sampleBody([SAMPLES[0]!]), digest: new Uint8Array(31) };
    const encoded = encodeFrame(sampleEnvelope(0), body);
    const { bodyAt } = decodeEnvelope(encoded.bytes)!;
    expect(() => isReadAs(encoded, 1, bodyAt, body)).toThrow(
      expect.objectContaining({ code: 'E_FRAME_INVALID' }) as Error,
    );
  });

  it('decode to the encoded content, for any content that JSON can hold', { tags: ['record§1'] }, () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.string({ unit: 'binary' }), (value, text) => {
        const content = JSON.parse(
          JSON.stringify(value)
            .replaceAll('__proto__', 'p')
            .replaceAll('constructor', 'c')
            .replaceAll('prototype', 't'),
        ) as Packable;
        const event = {
          type: 'NodeReplaced',
          id: 'n',
          fields: [],
          payload: { content, data_t: text },
        } as StemmaEvent;
        const body = sampleBody([event]);
        expect(decode(encodeFrame(sampleEnvelope(3), body).bytes)).toEqual({
          envelope: sampleEnvelope(3),
          body,
        });
      }),
      { numRuns: runs(300) },
    );
  });

  it('name either an actor or a recorder', { tags: ['record§1:frame'] }, () => {
    const { recorder: _, ...rest } = sampleBody([SAMPLES[7] as StemmaEvent]) as {
      recorder: string;
    } & ReturnType<typeof sampleBody>;
    const acted = { ...rest, actor: 'somebody' };
    expect(decode(encodeFrame(sampleEnvelope(1), acted).bytes)).toEqual({
      envelope: sampleEnvelope(1),
      body: acted,
    });
    for (const author of [{}, { actor: 'a', recorder: 'b' }])
      expect(() => decode(frameOf({ ...plainBody, ...author }))).toThrow(invalid);
  });

  const invalid = expect.objectContaining({ code: 'E_FRAME_INVALID' });
  const plainBody: Record<string, Packable> = {
    at: 5,
    command: 'c',
    digest: new Uint8Array(32),
    events: [{ type: 'NodeExpired', id: 'x' }],
    lineage: 0,
  };
  const frameOf = (body: Record<string, Packable>): Uint8Array =>
    Buffer.concat([encodeEnvelope(sampleEnvelope(1)), pack(body)]);

  it.each<[string, Record<string, Packable>]>([
    ['a key more', { more: 1 }],
    ['a digest that is too short', { digest: new Uint8Array(31) }],
    ['a time that is no integer', { at: 0.5 }],
    ['a branch below 0', { lineage: -1 }],
    ['no events', { events: [] }],
    ['an event that is no map', { events: [1] }],
    ['an event without a type', { events: [{ id: 'x' }] }],
    ['an event of another shape', { events: [{ type: 'NodeExpired', id: 5 }] }],
    ['an event with a key more', { events: [{ type: 'NodeExpired', id: 'x', more: 1 }] }],
    [
      'bytes in a content',
      { events: [{ type: 'NodeReplaced', id: 'x', fields: [], payload: { content: new Uint8Array(3) } }] },
    ],
    [
      'a reference where none may be',
      {
        events: [
          {
            type: 'NodeReplaced',
            id: 'x',
            fields: [],
            payload: { other: new ContentRef('ab'.repeat(32), 4) },
          },
        ],
      },
    ],
    [
      'a reference inside of a content',
      {
        events: [
          {
            type: 'NodeReplaced',
            id: 'x',
            fields: [],
            payload: { content: [new ContentRef('ab'.repeat(32), 4)] },
          },
        ],
      },
    ],
  ])('are defective with %s', { tags: ['record§2:defective'] }, (_what, change) => {
    expect(() => decode(frameOf({ ...plainBody, recorder: 'r', ...change }))).toThrow(invalid);
  });

  it(
    'are defective when further bytes follow, or when they are too many',
    { tags: ['record§1:bounded-decoding'] },
    () => {
      const bytes = frameOf({ ...plainBody, recorder: 'r' });
      expect(() => decode(Buffer.concat([bytes, Buffer.from([0xc0])]))).toThrow(invalid);
      const large = frameOf({
        ...plainBody,
        recorder: 'r',
        events: [{ type: 'NodeExpired', id: 'x'.repeat(boundsOf(1).frame) }],
      });
      expect(() => decode(large)).toThrow(invalid);
    },
  );

  it(
    'of a later version, or with an unknown event, stop the reader with a code',
    { tags: ['record§2:unknown-version'] },
    () => {
      const needed = expect.objectContaining({ code: 'E_VERSION_NEEDED' });
      const later = Buffer.concat([encodeEnvelope({ ...sampleEnvelope(1), v: 3 }), Buffer.from([0xc1])]);
      expect(() => decode(later)).toThrow(needed);
      expect(() =>
        decode(frameOf({ ...plainBody, recorder: 'r', events: [{ type: 'NodeTransmuted' }] })),
      ).toThrow(needed);
    },
  );

  it('are brought to the newest version one step at a time', { tags: ['record§2:upcasters'] }, () => {
    const steps = new Map<number, Upcaster>([
      [1, (events) => events.map((event) => ({ ...event, one: 1 }))],
      [2, (events) => events.map((event) => ({ ...event, two: 'one' in event }))],
    ]);
    expect(upcast(1, [{ type: 'x' }], 3, steps)).toEqual([{ type: 'x', one: 1, two: true }]);
    expect(upcast(2, [{ type: 'x' }], 3, steps)).toEqual([{ type: 'x', two: false }]);
  });

  it(
    'are not written when an event does not match its schema',
    { tags: ['record§3:checked-before-append'] },
    () => {
      expect(() => checkEvents([{ type: 'NodeTransmuted' }], true)).toThrow(invalid);
      expect(() => encodeFrame(sampleEnvelope(1), sampleBody([{ type: 'NodeExpired', id: '' }]))).toThrow(
        invalid,
      );
    },
  );
});

describe('an envelope', () => {
  const envelope = fc.record({
    v: fc.integer({ min: 1, max: 0xffff_ffff }),
    history: fc.string({ unit: 'binary', minLength: 1, maxLength: 120 }),
    seq: fc.oneof(fc.nat(300), fc.maxSafeInteger().map(Math.abs)),
    prev: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  });

  it('is read without the body, by the frozen layout', { tags: ['record§1:frame'] }, () => {
    fc.assert(
      fc.property(envelope, fc.uint8Array(), (given, body) => {
        const bytes = encodeEnvelope(given);
        expect(decodeEnvelope(Buffer.concat([bytes, body]))).toEqual({
          envelope: given,
          bodyAt: bytes.length,
        });
        expect(unpack(bytes)).toEqual(given);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([1, 31, 32, 255, 256, 512])(
    'holds the id of a history of %i bytes',
    { tags: ['record§1:frame'] },
    (length) => {
      const given = { ...sampleEnvelope(1), history: 'h'.repeat(length) };
      expect(decodeEnvelope(encodeEnvelope(given))?.envelope).toEqual(given);
    },
  );

  it(
    'is one sequence of bytes: others that look like it are none',
    { tags: ['record§1:canonical-bytes'] },
    () => {
      fc.assert(
        fc.property(envelope, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, at, flip) => {
          const bytes = encodeEnvelope(given);
          const place = at % bytes.length;
          bytes[place] = (bytes[place] as number) ^ flip;
          const read = decodeEnvelope(bytes);
          if (read) expect(toHex(encodeEnvelope(read.envelope))).toBe(toHex(bytes.subarray(0, read.bodyAt)));
        }),
        { numRuns: runs(2000) },
      );
    },
  );

  it('of random bytes is refused, and the decoder does not throw', { tags: ['record§2'] }, () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => openRecord(bytes) === undefined));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => openRecord(sealRecord(bytes)) === undefined),
    );
  });
});
