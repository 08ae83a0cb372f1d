import { canonicalJson, fromHex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { packValue, unpackValue } from '@stemma/row-store';
import { compileStages, describeNode, profileNamed, readConfig } from '@stemma/stages';
import { sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashNode, type HashedNode } from '../../src/stages/hash-node.ts';
import { hashRaw } from '../../src/stages/hash-stages.ts';
import { nodeCells, nodeHashes, rowNodes } from '../../src/stages/node-row.ts';
import {
  addNodes,
  copyRunningHashes,
  emptyRunningHashes,
  nodeHashOf,
} from '../../src/stages/running-hashes.ts';
import { stages } from '../../src/stages/stages.ts';
import { blockNode, LIFECYCLE_TYPES, type ProjectedNode } from '../../src/stages/stream-node.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(50, 150));
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
  .tuple(fc.constantFrom(...LIFECYCLE_TYPES), fc.array(fc.nat(99)), fc.nat(99))
  .map(([type, nodes, cycle]) => ({
    kind: 'lifecycle' as const,
    payload: { type, payload: type === 'forked' || type === 'rolled_back' ? { cycle } : { cycle, nodes } },
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

/** A node as it comes back from a row. */
const throughRow = (one: ProjectedNode): HashedNode => {
  const hashed = hashNode(one);
  const hashes = fromHex('0'.repeat(64) + nodeHashes(hashed));
  const table = stages.tables.find(({ name }) => name === 'stage_nodes')!;
  const [, , read, nodes] = unpackValue(table, packValue(table, [0, 0, hashes, [nodeCells(one, hashed)]]));
  return rowNodes({ hashes: read as Uint8Array, nodes: nodes as WideJson })[0]!.hashed;
};

test(
  'a node hashes as the compiler describes it, whatever it holds',
  { tags: ['compiler-stages:our-stream'] },
  () => {
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
  },
);

test(
  'a node that is read from its row has the bytes that were hashed',
  { tags: ['compiler-stages:our-stream'] },
  () => {
    fc.assert(
      fc.property(node, (one) => {
        expect(throughRow(one)).toEqual(hashNode(one));
      }),
      { numRuns: RUNS * 2 },
    );
  },
);

test(
  'the hashes of a stream that grew in any steps, from rows or in memory, are those that the compiler gives it at once, whatever copies of it go another way',
  { tags: ['compiler-stages:stages-of-cycles'] },
  () => {
    fc.assert(
      fc.property(nodes, fc.array(fc.nat(90), { maxLength: 4 }), (list, cuts) => {
        const facts = list.map((one, i) => describeNode(PROFILE, { ...one, id: null }, i));
        const { hashes } = compileStages({
          profile: PROFILE,
          nodes: facts,
          config: readConfig(PROFILE, null),
        });
        const ends = [...cuts.map((cut) => Math.min(cut, list.length)), list.length].sort((a, b) => a - b);
        const running = emptyRunningHashes();
        let from = 0;
        for (const end of ends) {
          addNodes(copyRunningHashes(running), list.map(hashNode));
          addNodes(running, list.slice(from, end).map(throughRow));
          nodeHashOf(running);
          from = end;
        }
        const node_hash = nodeHashOf(running);
        expect({ node_hash, z1: hashRaw(running.kindCounts, node_hash) }).toEqual({
          node_hash: hashes.node_hash,
          z1: hashes.z1,
        });
      }),
      { numRuns: RUNS },
    );
  },
);

test(
  'no payload of the stream holds a key that is dropped before hashing',
  { tags: ['compiler-stages:our-stream'] },
  () => {
    fc.assert(
      fc.property(node, (one) => {
        const shell = { ...one.payload, content: null, arguments: null };
        expect(canonicalJson(shell)).not.toMatch(/"(seq|timestamp|timestamp_ms|created_at_ns)"/);
      }),
      { numRuns: RUNS },
    );
  },
);
