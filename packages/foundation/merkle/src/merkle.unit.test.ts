import { sha256 } from '@stemma/canonical';
import fc from 'fast-check';
import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  checkSignature,
  consistencyProof,
  decodePublicKey,
  decodeSigningKey,
  EMPTY_TREE,
  encodePublicKey,
  encodeSigningKey,
  inclusionProof,
  leafHash,
  parseHeads,
  provesConsistency,
  provesInclusion,
  rootOf,
  signHead,
  signingKey,
  withLeaf,
} from './index.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Leaves of the tests of Certificate Transparency, and the roots of the trees of the first 1 to 8 of them. */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((text) => Buffer.from(text, 'hex'));
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** The definitions of RFC 6962 §2.1 word for word, over the data of the leaves. */
const H = (...parts: readonly Uint8Array[]): Uint8Array => hash('sha256', Buffer.concat(parts), 'buffer');
const k = (n: number): number => 2 ** Math.ceil(Math.log2(n) - 1);
const MTH = (D: readonly Uint8Array[]): Uint8Array =>
  D.length === 0
    ? H()
    : D.length === 1
      ? H(Uint8Array.of(0), D[0] ?? H())
      : H(Uint8Array.of(1), MTH(D.slice(0, k(D.length))), MTH(D.slice(k(D.length))));
const PATH = (m: number, D: readonly Uint8Array[]): Uint8Array[] => {
  const n = D.length;
  if (n === 1) return [];
  return m < k(n)
    ? [...PATH(m, D.slice(0, k(n))), MTH(D.slice(k(n)))]
    : [...PATH(m - k(n), D.slice(k(n))), MTH(D.slice(0, k(n)))];
};
const SUBPROOF = (m: number, D: readonly Uint8Array[], b: boolean): Uint8Array[] => {
  const n = D.length;
  if (m === n) return b ? [] : [MTH(D)];
  return m <= k(n)
    ? [...SUBPROOF(m, D.slice(0, k(n)), b), MTH(D.slice(k(n)))]
    : [...SUBPROOF(m - k(n), D.slice(k(n)), false), MTH(D.slice(0, k(n)))];
};

const treeOf = (data: readonly Uint8Array[]): Uint8Array =>
  rootOf(data.map(leafHash).reduce(withLeaf, EMPTY_TREE));

describe('the tree of RFC 6962', () => {
  it('has the published roots for eight leaves, and the hash of the empty string for none', () => {
    expect(LEAVES.map((_, i) => hex(treeOf(LEAVES.slice(0, i + 1))))).toEqual(ROOTS);
    expect(hex(treeOf([]))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it('gives the proofs of the definitions, and accepts them, for every size and position up to 40', () => {
    const data = Array.from({ length: 40 }, (_, i) => sha256(String(i)));
    for (let n = 1; n <= data.length; n++) {
      const D = data.slice(0, n);
      const leaves = D.map(leafHash);
      const root = MTH(D);
      expect(hex(treeOf(D))).toBe(hex(root));
      for (let m = 0; m < n; m++) {
        const path = inclusionProof(leaves, m);
        expect(path.map(hex)).toEqual(PATH(m, D).map(hex));
        expect(provesInclusion({ leaf: leaves[m] ?? H(), index: m, size: n, root }, path)).toBe(true);
      }
      for (let m = 0; m <= n; m++) {
        const older = { size: m, root: MTH(D.slice(0, m)) };
        const proof = consistencyProof(leaves, m);
        if (m > 0) expect(proof.map(hex)).toEqual(SUBPROOF(m, D, true).map(hex));
        expect(provesConsistency(older, { size: n, root }, proof)).toBe(true);
      }
    }
  });

  it('refuses a proof in which any part was changed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 70 }), fc.nat(), fc.nat(), fc.nat(255), (n, x, y, z) => {
        const data = Array.from({ length: n }, (_, i) => sha256(`leaf ${i}`));
        const leaves = data.map(leafHash);
        const root = MTH(data);
        const [m, flip] = [x % n, 1 + (z % 255)];
        const altered = (bytes: Uint8Array): Uint8Array =>
          bytes.map((byte, i) => (i === y % 32 ? byte ^ flip : byte));
        const alter = (hashes: Uint8Array[]): Uint8Array[][] => [
          hashes.map((each, i) => (i === y % hashes.length ? altered(each) : each)),
          hashes.slice(1),
          hashes.slice(0, -1),
          [...hashes, sha256('more')],
          [sha256('more'), ...hashes],
        ];
        const path = inclusionProof(leaves, m);
        const claim = { leaf: leaves[m] ?? root, index: m, size: n, root };
        const claims = [
          { ...claim, leaf: altered(claim.leaf) },
          { ...claim, root: altered(root) },
          { ...claim, index: (m + 1) % n },
          { ...claim, index: n },
        ];
        for (const wrong of claims) expect(provesInclusion(wrong, path)).toBe(false);
        for (const wrong of alter(path)) expect(provesInclusion(claim, wrong)).toBe(false);

        const older = { size: m + 1, root: MTH(data.slice(0, m + 1)) };
        const newer = { size: n, root };
        const proof = consistencyProof(leaves, m + 1);
        for (const wrong of [
          { ...older, root: altered(older.root) },
          { ...older, size: older.size === n ? 1 : n + 1 },
        ])
          expect(provesConsistency(wrong, newer, proof)).toBe(false);
        expect(provesConsistency(older, { ...newer, root: altered(root) }, proof)).toBe(false);
        for (const wrong of alter(proof).filter((each) => each.map(hex).join('') !== proof.map(hex).join('')))
          expect(provesConsistency(older, newer, wrong)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});

describe('signed notes', () => {
  const key = signingKey('stemma.log/x', Buffer.alloc(32, 7));
  const head = { origin: 'stemma.log/x/0', size: 3, root: sha256('root'), extensions: ['partitions 1'] };

  it('are read back as they were signed, several in one file', () => {
    const file = signHead(head, key) + signHead({ ...head, size: 0 }, key);
    const [first, second] = parseHeads(file);
    expect(first).toMatchObject({ origin: head.origin, size: 3, extensions: head.extensions });
    expect(hex(first?.root ?? Buffer.of())).toBe(hex(head.root));
    expect(second?.size).toBe(0);
    for (const each of parseHeads(file)) checkSignature(each, decodePublicKey(encodePublicKey(key)));
    expect(decodeSigningKey(encodeSigningKey(key))).toEqual(key);
  });

  it('are refused when any byte is changed', () => {
    const note = Buffer.from(signHead(head, key));
    for (let i = 0; i < note.length; i++) {
      const altered = Buffer.from(note);
      altered[i] = (altered[i] ?? 0) ^ 1;
      expect(
        () => parseHeads(altered.toString()).map((each) => checkSignature(each, key)),
        String(i),
      ).toThrow('the checkpoint cannot be used');
    }
  });

  it('are refused under another key, and texts that are no keys are refused as keys', () => {
    const [note] = parseHeads(signHead(head, key));
    for (const other of [
      signingKey('stemma.log/x', Buffer.alloc(32, 8)),
      signingKey('other', Buffer.alloc(32, 7)),
    ])
      expect(() => checkSignature(note ?? parseHeads('')[0]!, other)).toThrow('has not signed it');
    for (const text of ['', 'x', encodeSigningKey(key), encodePublicKey(key).replace('x+', 'y+')])
      expect(() => decodePublicKey(text)).toThrow('no key');
    expect(() => decodeSigningKey(encodePublicKey(key))).toThrow('no key');
  });
});
