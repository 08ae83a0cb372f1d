import { compareCodePoints, ContentRef, pack, sha256Hex, type Packable } from '@stemma/canonical';
import type { StemmaEvent } from '@stemma/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  boundsOf,
  decodeBody,
  decodeEnvelope,
  encodeEnvelope,
  encodeFrame,
  finishBody,
  missingContents,
} from '../src/index.ts';
import { externaliseContents } from '../src/externalise-contents.ts';
import { decodeFrame as decode } from './decode-frame.ts';
import { sampleBody, sampleEnvelope } from './samples.ts';

const runs = (usual: number): number => Number(process.env['STEMMA_RUNS'] ?? usual);

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

  it(
    'stay in the frame while they are at most 256 KiB and the frame is at most 900 KiB',
    { tags: ['record§4:outside'] },
    () => {
      expect(encoded([{ content: text(256 * K - 5) }, { content: text(256 * K - 5) }]).moved).toEqual([]);
      expect(encoded([{ content: text(256 * K - 4) }]).moved).toEqual(['0.content']);
    },
  );

  it(
    'are measured in bytes, whatever they are, beside smaller ones that stay',
    { tags: ['record§4:outside'] },
    () => {
      const wide = (units: number): string => text(units, 'ä');
      const small = { content: text(1000), data_a: null, data_b: true, data_c: 1 };
      expect(encoded([small, { content: wide(128 * K - 3) }]).moved).toEqual([]);
      expect(encoded([small, { content: wide(128 * K - 2) }]).moved).toEqual(['1.content']);
      expect(encoded([small, { data_d: [text(256 * K - 6)] }]).moved).toEqual([]);
      expect(encoded([small, { data_d: [text(256 * K - 5)] }]).moved).toEqual(['1.data_d']);
    },
  );

  it(
    'are moved out only as whole values of content, content_ and data_',
    { tags: ['record§4:what-moves'] },
    () => {
      const large = text(300 * K);
      const { moved } = encoded([
        { content: { deep: large } },
        { content_html: large },
        { data_x: [large] },
        { other: text(100 * K) },
      ]);
      expect(moved).toEqual(['0.content', '1.content_html', '2.data_x']);
    },
  );

  it(
    'are moved out by size, then event, then field, equal ones together, until the frame fits',
    { tags: ['record§4:frame-limit'] },
    () => {
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
    },
  );

  it(
    'move out together as the whole array of events when moving single values is not enough',
    { tags: ['record§4:frame-limit'] },
    () => {
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
    },
  );

  it(
    'are read back unchanged, and each is fetched once',
    { tags: ['record§4:outside', 'record§4:frame-limit'] },
    () => {
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
    },
  );

  it('are refused above 64 MiB each, and above 256 MiB in one command', { tags: ['record§4:limit'] }, () => {
    const bounds = boundsOf(1);
    expect(() => encoded([{ content: text(bounds.content) }])).toThrow(
      expect.objectContaining({ code: 'E_CONTENT_TOO_LARGE' }),
    );
  });

  it(
    'leave a command that is refused when all its events together are larger than a content may be',
    { tags: ['record§4:limit'] },
    () => {
      const bounds = { ...boundsOf(1), frame: 200, inline: 100, content: 400 };
      const split = (nodes: number): unknown => {
        const events = inserted(Array.from({ length: nodes }, () => ({ other: 'x' }))) as never[];
        return externaliseContents(events, pack(events).length, bounds);
      };
      expect(split(2)).toMatchObject({ events: { sha256: expect.any(String) as string } });
      expect(() => split(4)).toThrow(expect.objectContaining({ code: 'E_FRAME_TOO_LARGE' }));
    },
  );

  it('that are missing or no JSON make the frame defective', { tags: ['record§4'] }, () => {
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
