import { pack, sha256, type Packable } from '@stemma/canonical';
import { anyJson } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Headers } from './node.ts';
import { hashedHeaders, nodeDigest } from './preimage.ts';

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ minLength: 28, maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ minLength: 250, maxLength: 300 }),
);
const nullable = fc.option(text, { nil: null });
const integer = fc.oneof(fc.integer({ min: -200, max: 200 }), fc.maxSafeInteger());
const latin1 = fc.uint8Array({ minLength: 32, maxLength: 32 });

const headers: fc.Arbitrary<Headers> = fc.record(
  {
    id: text,
    nodeType: text,
    offset: integer,
    ttl: fc.option(fc.nat(), { nil: null }),
    priority: fc.oneof(
      integer,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
    ),
    cycle: fc.maxSafeNat(),
    created_at_ns: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    creation_index: fc.maxSafeNat(),
    role: nullable,
    kind: nullable,
    key: nullable,
    removable: fc.option(fc.boolean(), { nil: null }),
    refs: fc.option(fc.array(text, { maxLength: 20 }), { nil: null }),
    provenance: nullable,
  },
  {
    requiredKeys: ['id', 'nodeType', 'offset', 'ttl', 'priority', 'cycle', 'created_at_ns', 'creation_index'],
  },
);

test(
  'both ways of computing a digest give SHA-256 of the canonical msgpack of headers and digests',
  { tags: ['snapshots:tree-hash'] },
  () => {
    const ttl = fc.oneof(fc.constant(null), fc.constant('due' as const), fc.maxSafeNat());
    const extras = fc.option(
      fc.dictionary(
        fc.constantFrom(
          'data_x',
          'data_x1',
          'content_y',
          'content',
          'created_at_iso',
          'ttk',
          'zebra',
          'A',
          '',
          '😀',
          '｡',
        ),
        fc.oneof(anyJson(2), text),
      ),
      { nil: null, freq: 3 },
    );
    fc.assert(
      fc.property(
        headers,
        ttl,
        fc.option(latin1, { nil: null }),
        extras,
        fc.array(latin1, { maxLength: 20 }),
        (given, until, content, more, kids) => {
          const own = more === null || Object.keys(more).length === 0 ? null : more;
          const node = {
            headers: given,
            ttl: until,
            content: content === null ? null : Buffer.from(content).toString('latin1'),
            extras: own as never,
          };
          const digest = nodeDigest(
            node,
            kids.map((kid) => Buffer.from(kid).toString('latin1')),
          );
          const plain = { ...hashedHeaders(node), ...(content === null ? {} : { content }) };
          expect(Buffer.from(digest, 'latin1').toString('hex')).toBe(
            Buffer.from(sha256(pack([plain, kids] as Packable))).toString('hex'),
          );
        },
      ),
      { numRuns: Number(process.env['STEMMA_RUNS'] ?? 300) },
    );
  },
);

const NODE: Headers = {
  id: 'n',
  nodeType: 'cb',
  offset: 0,
  ttl: null,
  priority: 0,
  cycle: 1,
  created_at_ns: 0n,
  creation_index: 0,
};

const bothDigests = (given: Partial<Headers>): readonly string[] => {
  const node = { headers: { ...NODE, ...given }, ttl: null, content: null, extras: null };
  const slow = Buffer.from(sha256(pack([hashedHeaders(node), []] as Packable))).toString('latin1');
  return [nodeDigest(node, []), slow];
};

test.each([
  ['a text of 31 bytes in 16 characters', { role: 'é'.repeat(15) + 'a' }],
  ['a text of 32 bytes in 16 characters', { role: 'é'.repeat(16) }],
  ['refs that are null', { refs: null }],
  ['removable that is null', { removable: null }],
])(
  'a node with %s has the digest that its msgpack has',
  { tags: ['snapshots:tree-hash'] },
  (_what, given) => {
    const [fast, slow] = bothDigests(given);
    expect(fast).toBe(slow);
  },
);

test(
  'times of nodes one after the other are hashed to the millisecond, in whatever order they come',
  { tags: ['snapshots:tree-hash'] },
  () => {
    const times = [1_999_999n, 3_000_000n, 2_999_999n, 2_000_000n, 1_000_000n, 999_999n, 0n, 5_000_001n];
    for (const first of times)
      for (const second of times)
        for (const created_at_ns of [first, second]) {
          const [fast, slow] = bothDigests({ created_at_ns });
          expect(fast, `${first} before ${second}`).toBe(slow);
        }
  },
);
