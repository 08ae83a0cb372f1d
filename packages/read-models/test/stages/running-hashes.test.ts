import { canonicalJson, sha256, toHex, type WideJsonObject } from '@stemma/canonical';
import {
  addNodes,
  compileStages,
  describeNode,
  idsText,
  profileNamed,
  readConfig,
  startStream,
  streamStageHashes,
} from '@stemma/stages';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashNode, type HashedNode } from '../../src/stages/hash-node.ts';
import { addPacked, endPacked, joinPacked, splitPacked, startPacked } from '../../src/stages/packed-hash.ts';
import {
  EMPTY,
  hashesOf,
  runningCells,
  runningOf,
  takeNodes,
  type Running,
} from '../../src/stages/running.ts';
import { blockNode, type ProjectedNode } from '../../src/stages/stream-node.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? 150);
const PROFILE = profileNamed('stemma-1');

const content = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant({ timestamp: 5, api_key: 'x', deep: [{ seq: 1, Authorization: 'y' }] }),
);
const block = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', ' user ', 'system', 'tool', '', '\u0085user', null),
    kind: fc.constantFrom('text', 'call', 'result', null),
    name: fc.option(fc.constantFrom('lookup', 'ünïcode', ''), { nil: undefined }),
    content: fc.option(content, { nil: undefined }),
  },
  { noNullPrototype: true },
);
const lifecycle = fc
  .tuple(fc.constantFrom('sealed', 'committed', 'forked'), fc.array(fc.nat(99)), fc.nat(99))
  .map(([type, nodes, cycle]) => ({
    kind: 'lifecycle' as const,
    payload: { type, payload: type === 'forked' ? { cycle } : { cycle, nodes } },
  }));
const node = fc.tuple(fc.oneof(block, lifecycle), fc.nat(9)).map(([made, turn]): ProjectedNode => {
  if ('payload' in made) return { slot: 0, turn, ...made };
  const { role, kind, name, content: given } = made;
  const payload = {
    ...(given === undefined ? {} : { content: given }),
    ...(name === undefined ? {} : { data_name: name }),
  };
  return { slot: 0, turn, ...blockNode({ role, kind }, payload as WideJsonObject) };
});
const nodes = fc.array(node, { maxLength: 90 });

const takeAll = (from: Running, list: readonly HashedNode[]): { running: Running; chunks: string[] } => {
  let running = from;
  const chunks: string[] = [];
  for (let at = 0; at < list.length;) {
    const taken = takeNodes(running, list, at);
    ({ running, next: at } = taken);
    if (taken.filled !== null) chunks.push(taken.filled);
  }
  return { running, chunks };
};

test('a node hashes as the compiler describes it, whatever it holds [compiler-stages: our stream]', () => {
  fc.assert(
    fc.property(node, fc.nat(3), (one, ordinal) => {
      const facts = describeNode(PROFILE, { ...one, id: null }, ordinal);
      const hashed = hashNode(one);
      expect({
        digest: hashed.digest,
        label: hashed.label,
        message:
          hashed.contentHash === null
            ? null
            : [hashed.role, hashed.name, hashed.contentHash, hashed.contentLength],
      }).toEqual({
        digest: facts.digest,
        label: facts.label,
        message:
          facts.message === null
            ? null
            : [
                facts.message.role,
                facts.message.name,
                facts.message.contentHash,
                facts.message.contentLength,
              ],
      });
      if (one.kind !== 'lifecycle') expect(hashed.payloadHash).toBe(facts.payloadHash);
    }),
    { numRuns: RUNS * 4 },
  );
});

test('the hashes of a stream that grew in any steps, through rows, are those that the compiler gives it at once [compiler-stages: stages of cycles]', () => {
  fc.assert(
    fc.property(nodes, fc.array(fc.nat(90), { maxLength: 4 }), (list, cuts) => {
      const facts = list.map((one, i) => describeNode(PROFILE, { ...one, id: null }, i));
      const { hashes } = compileStages({ profile: PROFILE, nodes: facts, config: readConfig(PROFILE, null) });
      const ends = [...cuts.map((cut) => Math.min(cut, list.length)), list.length].sort((a, b) => a - b);
      let running = EMPTY;
      let ids = '';
      let from = 0;
      for (const end of ends) {
        const taken = takeAll(running, list.slice(from, end).map(hashNode));
        running = runningOf([0, ...runningCells(taken.running)], 1);
        ids = [...(ids === '' ? [] : [ids]), ...taken.chunks].join(',');
        from = end;
      }
      const all = [ids, running.openIds].filter((each) => each !== '').join(',');
      const messages = facts.filter(({ kind }) => kind === 'message').map(({ id }) => id);
      expect(all).toBe(idsText(messages));
      const found = hashesOf(running, all);
      expect({
        node_hash: toHex(found.nodeHash),
        z1: toHex(found.z1),
        z2: toHex(found.z2),
        z3: toHex(found.z3),
      }).toEqual(hashes);
      const { selection_sha256: _sha, ...stream } = streamStageHashes(
        PROFILE,
        addNodes(startStream(PROFILE), facts),
        all,
      );
      expect(stream).toEqual(hashes);
    }),
    { numRuns: RUNS },
  );
});

test("a packed state goes on as the platform's SHA-256 would, whatever the pieces, and states lie beside each other [compiler-stages: stages of cycles]", () => {
  const text = fc.string({ unit: 'binary-ascii', maxLength: 300 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), text, (pieces, tail) => {
      const state = pieces.reduce(addPacked, startPacked('start'));
      const expected = sha256(Buffer.from(['start', ...pieces, tail].join(''), 'latin1'));
      expect(endPacked(state, tail)).toEqual(expected);
      expect(endPacked(state, tail)).toEqual(expected);
      const other = startPacked('x'.repeat(pieces.length));
      expect(splitPacked(joinPacked([other, state, other])).map((each) => toHex(each))).toEqual(
        [other, state, other].map(toHex),
      );
    }),
    { numRuns: RUNS * 2 },
  );
  for (let length = 0; length < 200; length++)
    expect(toHex(endPacked(startPacked('a'.repeat(length)), ''))).toBe(toHex(sha256('a'.repeat(length))));
});

test('no payload of the stream holds a key that is dropped before hashing [compiler-stages: our stream]', () => {
  fc.assert(
    fc.property(node, (one) => {
      const shell = { ...one.payload, content: null, arguments: null };
      expect(canonicalJson(shell)).not.toMatch(/"(seq|timestamp|timestamp_ms|created_at_ns)"/);
    }),
    { numRuns: RUNS },
  );
});
