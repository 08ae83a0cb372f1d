import { toHex } from '@stemma/canonical';
import { hashFlat } from '../src/index.ts';
import {
  block,
  COMMIT,
  countWork,
  type HashVector,
  hashVectors,
  referenceHistory,
  started,
} from '@stemma/test-kit';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const file = new URL('../../../../docs/formats/hashes.json', import.meta.url);
if (process.env['STEMMA_WRITE_VECTORS'] === '1')
  writeFileSync(file, JSON.stringify({ vectors: hashVectors() }, null, 2) + '\n');
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { readonly vectors: readonly HashVector[] };

test(
  'the published vectors are what the naive implementation computes',
  { tags: ['snapshots:vectors'] },
  () => {
    expect(vectors).toEqual(hashVectors());
  },
);

test.each(vectors)(
  'the hashes of "$name" are the published ones, whether updated step by step or computed from scratch',
  { tags: ['snapshots:vectors', 'snapshots:tree-hash', 'snapshots:thread-hash'] },
  (vector) => {
    const history = referenceHistory();
    const { snapshot } = history.submit(0, [{ op: 'import', name: null, export: vector.export }], 0n);
    const tree = history.tree(0);
    const { treeHash, threadHash } = hashFlat(tree, history.payload);
    expect({
      kept: [toHex(snapshot?.treeHash as Uint8Array), toHex(snapshot?.threadHash as Uint8Array)],
      fromNothing: [toHex(treeHash), toHex(threadHash)],
      pre: toHex(hashFlat(tree, history.payload, 'pre').threadHash),
    }).toEqual({
      kept: [vector.treeHash, vector.threadHash],
      fromNothing: [vector.treeHash, vector.threadHash],
      pre: vector.threadHashPre,
    });
  },
);

test('hashing a tree from scratch takes as many steps as it has nodes, however many turns they are in', async () => {
  const hashing = [100, 400].map((turns) => {
    const session = started();
    for (let turn = 0; turn < turns; turn++) session.submit(block(`b${turn}`), COMMIT);
    const tree = session.tree();
    return () => hashFlat(tree, session.history.payload);
  });
  const [few, many] = await countWork(hashing);
  expect(many! / few!).toBeLessThan(4.4);
});
