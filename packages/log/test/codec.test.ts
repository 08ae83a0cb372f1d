import { readdirSync, readFileSync } from 'node:fs';
import {
  compareCodePoints,
  ContentRef,
  fromHex,
  pack,
  sha256Hex,
  toHex,
  unpack,
  type Packable,
} from '@stemma/canonical';
import fc from 'fast-check';
import type { StemmaEvent } from '@stemma/events';
import { describe, expect, it } from 'vitest';
import { checkEvents, EVENT_TYPES } from '../src/check-events.ts';
import {
  boundsOf,
  decodeBody,
  decodeEnvelope,
  encodeEnvelope,
  encodeFrame,
  finishBody,
  missingContents,
  openRecord,
  sealRecord,
} from '../src/index.ts';
import { upcast, type Upcaster } from '../src/upcast.ts';
import { sampleBody, sampleEnvelope, SAMPLES } from './samples.ts';

const runs = (usual: number): number => Number(process.env['STEMMA_RUNS'] ?? usual);

const nothing = (): undefined => undefined;
const decode = (
  bytes: Uint8Array,
  fetched: (ref: ContentRef) => Uint8Array | undefined = nothing,
): unknown => {
  const read = decodeEnvelope(bytes);
  if (!read) throw new Error('no envelope');
  return {
    envelope: read.envelope,
    body: finishBody(decodeBody(read.envelope.v, bytes, read.bodyAt), fetched),
  };
};

type Corpus = {
  readonly version: number;
  readonly frames: readonly { readonly event: string; readonly frame: string }[];
};
const folder = new URL('../corpus/', import.meta.url);
const corpora = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Corpus,
);

describe('the bytes of frames', () => {
  it('of every version that ever was are still read [record §2: upcasters]', () => {
    expect(corpora.map(({ version }) => version)).toEqual([1]);
    for (const { frames } of corpora) for (const { frame } of frames) decode(fromHex(frame));
  });

  it('are those of the corpus for every event type, and the same again when they are read and written [record §1: golden bytes, §1: frame]', () => {
    const [newest] = corpora.slice(-1);
    expect(newest?.frames.map(({ event }) => event)).toEqual(SAMPLES.map(({ type }) => type));
    expect([...EVENT_TYPES].sort(compareCodePoints)).toEqual(
      SAMPLES.map(({ type }) => type as string).sort(compareCodePoints),
    );
    SAMPLES.forEach((event, i) => {
      const [envelope, body] = [sampleEnvelope(i), sampleBody([event])];
      const bytes = encodeFrame(envelope, body).bytes;
      expect(toHex(bytes)).toBe(newest?.frames[i]?.frame);
      expect(decode(bytes)).toEqual({ envelope, body });
    });
  });

  it('give back any content that JSON can hold [record §1]', () => {
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

  it('name an actor or a recorder, not both and not none [record §1: frame]', () => {
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
    ['a lineage below 0', { lineage: -1 }],
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
  ])('are defective with %s [record §2: defective]', (_what, change) => {
    expect(() => decode(frameOf({ ...plainBody, recorder: 'r', ...change }))).toThrow(invalid);
  });

  it('are defective with bytes behind them, or too many [record §1: bounded decoding]', () => {
    const bytes = frameOf({ ...plainBody, recorder: 'r' });
    expect(() => decode(Buffer.concat([bytes, Buffer.from([0xc0])]))).toThrow(invalid);
    const large = frameOf({
      ...plainBody,
      recorder: 'r',
      events: [{ type: 'NodeExpired', id: 'x'.repeat(boundsOf(1).frame) }],
    });
    expect(() => decode(large)).toThrow(invalid);
  });

  it('of a later version, or with an unknown event, stop the reader and say so [record §2: unknown version]', () => {
    const needed = expect.objectContaining({ code: 'E_VERSION_NEEDED' });
    const later = Buffer.concat([encodeEnvelope({ ...sampleEnvelope(1), v: 2 }), Buffer.from([0xc1])]);
    expect(() => decode(later)).toThrow(needed);
    expect(() =>
      decode(frameOf({ ...plainBody, recorder: 'r', events: [{ type: 'NodeTransmuted' }] })),
    ).toThrow(needed);
  });

  it('are brought to the newest version one step at a time [record §2: upcasters]', () => {
    const steps = new Map<number, Upcaster>([
      [1, (events) => events.map((event) => ({ ...event, one: 1 }))],
      [2, (events) => events.map((event) => ({ ...event, two: 'one' in event }))],
    ]);
    expect(upcast(1, [{ type: 'x' }], 3, steps)).toEqual([{ type: 'x', one: 1, two: true }]);
    expect(upcast(2, [{ type: 'x' }], 3, steps)).toEqual([{ type: 'x', two: false }]);
  });

  it('are refused in writing when an event is not of its shape [record §3: checked before append]', () => {
    expect(() => checkEvents([{ type: 'NodeTransmuted' }], true)).toThrow(invalid);
    expect(() => encodeFrame(sampleEnvelope(1), sampleBody([{ type: 'NodeExpired', id: '' }]))).toThrow(
      invalid,
    );
  });
});

describe('an envelope', () => {
  const envelope = fc.record({
    v: fc.integer({ min: 1, max: 0xffff_ffff }),
    history: fc.string({ unit: 'binary', minLength: 1, maxLength: 120 }),
    seq: fc.oneof(fc.nat(300), fc.maxSafeInteger().map(Math.abs)),
    prev: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  });

  it('is read without the body, by the frozen layout [record §1: frame]', () => {
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

  it('is one sequence of bytes: others that look like it are none [record §1: canonical bytes]', () => {
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
  });

  it('of random bytes is none, and nothing throws [record §2]', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => openRecord(bytes) === undefined));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => openRecord(sealRecord(bytes)) === undefined),
    );
  });
});

describe('contents that do not fit into a frame', () => {
  const inserted = (contents: readonly Record<string, Packable>[]): StemmaEvent[] =>
    contents.map((attributes, i) => ({
      type: 'NodeInserted',
      parent: 'p',
      expires: null,
      node: {
        id: `n${i}`,
        nodeType: 'mb',
        offset: 0,
        ttl: null,
        priority: 0,
        cycle: 0,
        created_at_ns: 1n,
        creation_index: i,
        ...attributes,
      },
    }));
  const encoded = (
    contents: readonly Record<string, Packable>[],
  ): ReturnType<typeof encodeFrame> & { moved: string[] } => {
    const frame = encodeFrame(sampleEnvelope(1), sampleBody(inserted(contents)));
    const body = decodeBody(1, frame.bytes, decodeEnvelope(frame.bytes)?.bodyAt ?? 0);
    const moved = Array.isArray(body.events)
      ? (body.events as { node: Record<string, unknown> }[]).flatMap(({ node }, i) =>
          Object.keys(node)
            .filter((key) => node[key] instanceof ContentRef)
            .map((key) => `${i}.${key}`),
        )
      : ['events'];
    return { ...frame, moved };
  };
  const text = (bytes: number, letter = 'x'): string => letter.repeat(bytes);
  const K = 1024;

  it('stay while they are at most 256 KiB and the frame at most 900 KiB [record §4: outside]', () => {
    expect(encoded([{ content: text(256 * K - 5) }, { content: text(256 * K - 5) }]).moved).toEqual([]);
    expect(encoded([{ content: text(256 * K - 4) }]).moved).toEqual(['0.content']);
  });

  it('are whole values of content, content_ and data_, and nothing else [record §4: what moves]', () => {
    const large = text(300 * K);
    const { moved } = encoded([
      { content: { deep: large } },
      { content_html: large },
      { data_x: [large] },
      { other: text(100 * K) },
    ]);
    expect(moved).toEqual(['0.content', '1.content_html', '2.data_x']);
  });

  it('go by size, then event, then field, equal ones together, until the frame fits [record §4: frame limit]', () => {
    const { moved, contents, bytes } = encoded([
      { content: text(200 * K), data_a: text(220 * K, 'a') },
      { content: text(200 * K) },
      { content_b: text(220 * K, 'b'), content: text(220 * K, 'c') },
      { content: text(1 * K) },
    ]);
    // 1,061 KiB: the first of the three largest is enough.
    expect(moved).toEqual(['0.data_a']);
    expect(contents).toHaveLength(1);
    expect(bytes.length).toBeLessThanOrEqual(900 * K);
    const twice = encoded([
      { content: text(250 * K) },
      { content: text(240 * K, 'y') },
      { content: text(250 * K) },
      { content: text(240 * K, 'z') },
    ]);
    expect(twice.moved).toEqual(['0.content', '2.content']);
    expect(twice.contents).toHaveLength(1);
  });

  it('give way to the whole array of events when that is not enough, with what was moved before in it [record §4: frame limit]', () => {
    const small = Array.from({ length: 3000 }, (_, i) => ({ content: text(20), other: text(300), n: i }));
    const frame = encoded([{ content: text(300 * K) }, ...small]);
    expect(frame.moved).toEqual(['events']);
    expect(frame.bytes.length).toBeLessThan(1000);
    const fetched = new Map(frame.contents.map(({ ref, bytes }) => [ref.sha256, bytes]));
    expect(decode(frame.bytes, (ref) => fetched.get(ref.sha256))).toMatchObject({
      body: {
        events: { length: 3001, 0: { node: { content: text(300 * K) } }, 3000: { node: { n: 2999 } } },
      },
    });
  });

  it('come back as they were, and are asked for once each [record §4: outside, §4: frame limit]', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ size: fc.integer({ min: 0, max: 320 }), letter: fc.constantFrom('x', 'y', 'é') }),
          { minLength: 1, maxLength: 8 },
        ),
        (sizes) => {
          const events = inserted(
            sizes.map(({ size, letter }) => ({ content: text(size * K, letter), data_n: size })),
          );
          const body = sampleBody(events);
          const { bytes, contents } = encodeFrame(sampleEnvelope(1), body);
          expect(bytes.length).toBeLessThanOrEqual(900 * K);
          for (const { ref, bytes: stored } of contents)
            expect(ref).toEqual(new ContentRef(sha256Hex(stored), stored.length));
          const fetched = new Map<string, Uint8Array>();
          const find = (ref: ContentRef): Uint8Array | undefined => fetched.get(ref.sha256);
          const raw = decodeBody(1, bytes, decodeEnvelope(bytes)?.bodyAt ?? 0);
          const asked: string[] = [];
          for (
            let missing = missingContents(raw, find);
            missing.length > 0;
            missing = missingContents(raw, find)
          ) {
            for (const { sha256 } of missing) {
              asked.push(sha256);
              fetched.set(
                sha256,
                contents.find(({ ref }) => ref.sha256 === sha256)?.bytes ?? new Uint8Array(),
              );
            }
          }
          expect([...asked].sort(compareCodePoints)).toEqual(
            contents.map(({ ref }) => ref.sha256).sort(compareCodePoints),
          );
          expect(finishBody(raw, find)).toEqual(body);
        },
      ),
      { numRuns: runs(30) },
    );
  });

  it('are refused above 64 MiB, and 256 MiB in one command [record §4: limit]', () => {
    const bounds = boundsOf(1);
    expect(() => encoded([{ content: text(bounds.content) }])).toThrow(
      expect.objectContaining({ code: 'E_CONTENT_TOO_LARGE' }),
    );
  });

  it('that are missing or no JSON make the frame defective [record §4]', () => {
    const { bytes } = encoded([{ content: text(300 * K) }]);
    expect(() => decode(bytes)).toThrow(expect.objectContaining({ code: 'E_CONTENT_MISSING' }));
    const other = pack(new Uint8Array(300 * K - 4 + 5));
    const body = sampleBody(inserted([{}]));
    const ref = new ContentRef(sha256Hex(other), other.length);
    const [event] = body.events as unknown as { node: Record<string, Packable> }[];
    const frame = Buffer.concat([
      encodeEnvelope(sampleEnvelope(1)),
      pack({
        ...body,
        events: [{ ...event, node: { ...event?.node, content: ref } }],
      }),
    ]);
    expect(() => decode(frame, () => other)).toThrow(expect.objectContaining({ code: 'E_FRAME_INVALID' }));
  });
});
