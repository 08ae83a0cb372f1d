import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkEvents, SCHEMAS } from './check-events.ts';
import { SHAPED_TYPES, shapedEvent } from './shaped-event.ts';
import type { RawEvent } from './upcast.ts';

const odd = fc.constantFrom<unknown>(
  null,
  undefined,
  '',
  'x',
  0,
  -1,
  1.5,
  -0,
  2 ** 53,
  NaN,
  Infinity,
  1n,
  true,
  [],
  ['r'],
  [1],
  {},
  new Uint8Array(31),
);
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const id = fc.string({ minLength: 1, maxLength: 4 });

/** A value that fits most of the time. */
const mostly = (fitting: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 20, arbitrary: fitting }, { weight: 1, arbitrary: odd });
/** A map with such values, a key too many or too few now and then. */
const map = (
  fields: { [name: string]: fc.Arbitrary<unknown> },
  optional: readonly string[] = [],
): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, mostly(value)])), {
        requiredKeys: Object.keys(fields).filter((name) => !optional.includes(name)),
      }),
      fc.option(fc.constantFrom(...Object.keys(fields)), { freq: 12 }),
      fc.option(fc.constantFrom('more', 'constructor', '__proto__', 'content'), { freq: 12 }),
    )
    .map(([whole, without, more]) => {
      const copy: Record<string, unknown> = { ...whole };
      if (without !== null) delete copy[without];
      if (more !== null)
        Object.defineProperty(copy, more, { value: 1, enumerable: true, configurable: true, writable: true });
      return copy;
    });

const text = fc.option(fc.string({ maxLength: 3 }));
const node = map(
  {
    id,
    nodeType: id,
    offset: fc.integer(),
    ttl: fc.option(fc.nat()),
    priority: fc.double({ noNaN: true }),
    cycle: fc.nat(),
    created_at_ns: fc.oneof({ weight: 6, arbitrary: fc.bigInt() }, { weight: 1, arbitrary: fc.nat() }),
    creation_index: fc.nat(),
    role: text,
    kind: text,
    key: text,
    removable: fc.option(fc.boolean()),
    refs: fc.option(fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 })),
    provenance: fc.jsonValue(),
    content: fc.jsonValue(),
    data_x: fc.jsonValue(),
  },
  ['role', 'kind', 'key', 'removable', 'refs', 'provenance', 'content', 'data_x'],
);
const count = fc.nat();
const counts = map({ nodes: count, blocks: count, turns: count });
const snapshot = { cycle: count, treeHash: hash, threadHash: hash, counts };
const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.constantFrom(...Array.from('0123456789abcdef')),
    minLength: length,
    maxLength: length,
  });
const location = map({ seq: count, index: count });
const payload = map({ data_own: text, data_answer: fc.jsonValue() }, ['data_own', 'data_answer']);
const body = map({
  sha256: hex(64),
  size: count,
  base: fc.option(
    map({ seq: count, index: count, size: count, ordinal: count, frames: fc.array(count, { maxLength: 2 }) }),
  ),
  pieces: fc.array(fc.array(count, { maxLength: 3 }), { maxLength: 3 }),
  encoding: fc.constantFrom('text', 'zstd', 'none', 'gzip'),
});
const assigned = { kind: fc.constant('assigned'), history: id, branchId: count, attemptId: id };
const called = { ...assigned, why: fc.constantFrom('argument', 'waiting', 'guessed') };
const TOKENS = ['input', 'output', 'cached', 'cacheWrite', 'reasoning'];
const FIELDS: { readonly [type: string]: { [name: string]: fc.Arbitrary<unknown> } } = {
  NodeInserted: { parent: id, node, expires: fc.option(count) },
  TurnSealed: { turn: node },
  NodeExpired: { id },
  NodeHeld: { id, by: id },
  NodeCascaded: { id, by: id, why: fc.constantFrom('contained', 'emptied', 'other') },
  NodePruned: { id, rank: count, rule: fc.constantFrom('max_blocks', 'other') },
  SnapshotCommitted: snapshot,
  SnapshotImported: snapshot,
  CallStarted: {
    attemptId: id,
    branchId: count,
    seq: count,
    cycle: count,
    api: fc.constantFrom('openai.chat', 'other', 'another'),
    model: text,
    toolsAt: fc.option(location),
    request: fc.option(body),
    prompt: fc.option(
      map({
        scope: fc.string({ maxLength: 3 }),
        match: fc.constantFrom('started', 'forked', 'guessed'),
        list: hex(32),
        brings: fc.array(hex(16), { maxLength: 2 }),
        origin: fc.option(fc.oneof(map({ ...called, kind: fc.constant('called') }), map(assigned))),
      }),
    ),
    payload,
  },
  CallFinished: {
    attemptId: id,
    status: fc.constantFrom('answered', 'timed out', 'lost'),
    httpStatus: fc.option(fc.integer({ min: 99, max: 1_000 })),
    finishReason: text,
    model: text,
    usage: fc.option(
      map({ ...Object.fromEntries(TOKENS.map((name) => [name, fc.option(count)])), cacheWrite1h: count }, [
        'cacheWrite1h',
      ]),
    ),
    firstByteMs: fc.option(count),
    durationMs: fc.option(count),
    response: fc.option(body),
    error: fc.option(map({ code: text, message: fc.string({ maxLength: 3 }) })),
    payload,
  },
};

const event: fc.Arbitrary<RawEvent> = fc
  .constantFrom(...SHAPED_TYPES)
  .chain((type) => map(FIELDS[type] ?? {}).map((fields) => ({ ...(fields as RawEvent), type })));

test(
  'the hand-written check of an event accepts and refuses exactly what the schema does',
  { tags: ['record§2:defective'] },
  () => {
    let [shaped, left] = [0, 0];
    fc.assert(
      fc.property(event, (raw) => {
        const type = raw['type'] as string;
        const given = shapedEvent(type, raw);
        const result = SCHEMAS.get(type)?.safeParse(raw);
        if (given !== undefined) {
          shaped++;
          expect(result).toEqual({ success: true, data: given });
          expect(Object.keys(given)).toEqual(Object.keys(result?.success ? result.data : {}));
        } else if (result?.success === true) {
          // Only what the schema changes is left to it: small times.
          left++;
          const holder = (raw['node'] ?? raw['turn']) as { created_at_ns: unknown };
          expect(typeof holder.created_at_ns).toBe('number');
        }
      }),
      // Fewer say nothing: most of what is made is wrong somewhere.
      { numRuns: Math.max(2_000, Number(process.env['STEMMA_RUNS'] ?? 0)) },
    );
    expect(shaped).toBeGreaterThan(left);
  },
);

test.each([31, 33])(
  'a snapshot whose hashes have %i bytes is refused',
  { tags: ['record§2:defective'] },
  (length) => {
    const hashes = { treeHash: new Uint8Array(length), threadHash: new Uint8Array(length) };
    const counts = { nodes: 0, blocks: 0, turns: 0 };
    for (const type of ['SnapshotCommitted', 'SnapshotImported'])
      expect(() => checkEvents([{ type, cycle: 0, ...hashes, counts }], false)).toThrow(
        expect.objectContaining({ code: 'E_FRAME_INVALID' }),
      );
  },
);

test.each([
  null,
  { kind: 'called', history: 'h', branchId: 0, attemptId: 'a', why: 'argument' },
  { kind: 'assigned', history: 'h', branchId: 0, attemptId: 'a' },
])('a call as recorders write it is not left to its schema: it comes from %o', (origin) => {
  const base = { seq: 1, index: 2, size: 3, ordinal: 4, frames: [5] };
  const request = { sha256: 'a'.repeat(64), size: 6, base, pieces: [[1], [2, 3]], encoding: 'zstd' };
  const call = {
    ...{
      type: 'CallStarted',
      attemptId: 'b',
      branchId: 0,
      seq: 1,
      cycle: 1,
      api: 'openai.chat',
      model: null,
    },
    ...{ toolsAt: null, request, payload: {} },
    sent: { at: 1, origin: 'https://a.example', path: '/v1', contentType: null, coding: 'zstd' },
    prompt: { scope: 'all', match: 'started', list: 'b'.repeat(32), brings: ['c'.repeat(16)], origin },
  };
  const schema = SCHEMAS.get('CallStarted') as NonNullable<ReturnType<typeof SCHEMAS.get>>;
  expect({ success: true, data: shapedEvent('CallStarted', call) }).toEqual(schema.safeParse(call));
});
