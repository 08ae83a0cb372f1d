import { canonicalJson, sha256Hex, toHex } from '@stemma/canonical';
import { exportNaive, slicesNaive, threadHashNaive, treeHashNaive } from './naive-reading.ts';
import {
  commitNaive,
  copyState,
  insertNaive,
  moveNaive,
  replaceNaive,
  startNaive,
  type NaiveState,
} from './naive-tree.ts';

/** One state with its hashes, as docs/formats/hashes.json has them. */
export type HashVector = {
  readonly name: string;
  readonly export: string;
  readonly treeHash: string;
  readonly threadHash: string;
  readonly threadHashPre: string;
  readonly slices: readonly string[];
};

const vector = (name: string, state: NaiveState): HashVector => ({
  name,
  export: exportNaive(state),
  treeHash: toHex(treeHashNaive(state)),
  threadHash: toHex(threadHashNaive(state, 'full')),
  threadHashPre: toHex(threadHashNaive(state, 'pre')),
  slices: slicesNaive(state, 'full').map((slice) => sha256Hex(canonicalJson(slice))),
});

const T = 1_724_670_000_000_000_000n;

/** States that together have every kind of header and every way a `ttl` is hashed, computed by the naive implementation. */
export const hashVectors = (): readonly HashVector[] => {
  const vectors: HashVector[] = [];
  const state = startNaive({ root: 'root', sys: 'sys', seq: 'seq', ah: 'ah' });
  const keep = (name: string): void => void vectors.push(vector(name, copyState(state)));
  keep('an empty history');
  insertNaive(
    state,
    'sys',
    { id: 'rules', nodeType: 'cb', content: 'Be brief.', ttl: 3, role: 'system', kind: 'text' },
    T,
  );
  insertNaive(
    state,
    'ah',
    {
      id: 'q',
      nodeType: 'cb',
      content: { text: 'né\u{1f680}', n: [1, 0.5, 1e-7, null, true] },
      role: 'user',
    },
    T + 1n,
  );
  insertNaive(
    state,
    'ah',
    {
      id: 'pre',
      nodeType: 'cb:summary',
      offset: -1,
      ttl: 1,
      content: '',
      priority: -2,
      data_source: { page: 3 },
    },
    T + 2n,
  );
  insertNaive(
    state,
    'ah',
    {
      id: 'bare',
      nodeType: 'custom:note',
      offset: 1,
      ttl: 2,
      kind: null,
      key: 'k',
      refs: ['q', 'gone'],
      provenance: 'model:x',
    },
    T + 3n,
  );
  keep('an open head: what entered after the last snapshot');
  commitNaive(state, 'turn-1', T + 4n);
  keep('sealed: ttl 1 and 2, frozen 3 under ^sys');
  insertNaive(state, 'turn-1', { id: 'late', nodeType: 'cb', offset: 2, ttl: 1, content: null }, T + 5n);
  insertNaive(
    state,
    'ah',
    {
      id: 'box',
      nodeType: 'mc',
      removable: true,
      data_tag: 'x',
      children: [
        { id: 'in', nodeType: 'cb', content: 'held', ttl: 0 },
        { id: 'holder', nodeType: 'cb', refs: ['in'], content_lang: 'en' },
      ],
    },
    T + 6n,
  );
  keep('open: a late attachment, a container, a block of ttl 0');
  commitNaive(state, 'turn-2', T + 7n);
  keep('a held block and one that goes next: both due');
  moveNaive(state, 'rules', 'ah');
  replaceNaive(state, 'rules', { content: 'Be exact.', data_v: 2 });
  commitNaive(state, 'turn-3', T + 8n);
  keep('moved out of ^sys and replaced');
  commitNaive(state, 'unused', T + 9n);
  commitNaive(state, 'unused', T + 10n);
  keep('two empty cycles later');
  return vectors;
};
