import fc from 'fast-check';
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  addNode,
  addText,
  compileStages,
  describeNode,
  endHash,
  idsText,
  PROFILE_NAMES,
  profileNamed,
  readConfig,
  startHash,
  startStream,
  streamStageHashes,
} from '../src/index.ts';
import { streamNodes } from './arbitraries.ts';

const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 300 });

test.each(['sha256', 'sha1'] as const)(
  'a %s that goes on from any place gives the hash of the whole text, and the place stays [compiler-stages: node_hash]',
  (algorithm) => {
    fc.assert(
      fc.property(fc.array(ascii, { maxLength: 6 }), ascii, (texts, other) => {
        const state = texts.reduce(addText, startHash(algorithm));
        expect(endHash(state)).toBe(hash(algorithm, texts.join('')));
        const kept = structuredClone(state);
        expect(endHash(addText(state, other))).toBe(hash(algorithm, texts.join('') + other));
        expect(state).toEqual(kept);
      }),
    );
  },
);

test('every length around a block hashes as a whole', () => {
  for (let length = 0; length < 200; length++)
    expect(endHash(addText(startHash('sha256'), 'a'.repeat(length)))).toBe(
      hash('sha256', 'a'.repeat(length)),
    );
});

test.each(PROFILE_NAMES)(
  'a stream of %s that goes on node by node has the hashes of one that is compiled at once, wherever it is stopped [compiler-stages: hashes; compiler-stages: node_hash]',
  (name) => {
    const profile = profileNamed(name);
    const config = readConfig(profile, null);
    fc.assert(
      fc.property(streamNodes, (nodes) => {
        let stream = startStream(profile);
        const facts = nodes.map((node, ordinal) => describeNode(profile, { ...node, id: null }, ordinal));
        facts.forEach((node, place) => {
          // As a row would keep it.
          stream = JSON.parse(JSON.stringify(addNode(stream, node))) as typeof stream;
          const known = facts.slice(0, place + 1);
          const { hashes, stages } = compileStages({ profile, nodes: known, config });
          const ids = idsText(known.filter(({ kind }) => kind === 'message').map(({ id }) => id));
          expect(streamStageHashes(profile, stream, ids)).toEqual({
            ...hashes,
            selection_sha256: stages.SPEC.selection.selection_sha256,
          });
        });
      }),
    );
  },
);
