import type { WideJson } from '@stemma/canonical';
import { anyJson } from '@stemma/test-kit';
import { applyPatch, type Operation } from 'rfc6902';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffContents, type ContentMode } from '../src/range/content-diff.ts';

const compare = (older: WideJson | undefined, newer: WideJson | undefined, mode: ContentMode, lines = 3) =>
  diffContents({ label: '@t-1', content: older }, { label: '@t0', content: newer }, mode, lines);

describe('the difference of two contents', () => {
  it(
    'is by lines, from the older to the newer, with as much around them as is asked for',
    { tags: ['context-tree§6:range-result'] },
    () => {
      const older = 'one\ntwo\nthree\nfour\nfive\n';
      const newer = 'one\ntwo\n3\nfour\nfive\n';
      expect(compare(older, newer, 'unified', 1)).toEqual({
        mode: 'unified',
        mime: 'text/x-diff',
        summary: { bytesNewer: 20, bytesOlder: 24, identical: false, truncated: false },
        diff: '--- @t-1\n+++ @t0\n@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n',
      });
      expect(compare(older, older, 'unified').diff).toBe('');
      expect(compare({ a: 1 }, { a: 2 }, 'unified', 0).diff).toBe(
        '--- @t-1\n+++ @t0\n@@ -2,1 +2,1 @@\n-  "a": 1\n+  "a": 2\n',
      );
    },
  );

  it(
    'is a patch of RFC 6902 where both are JSON, as texts or as values, and by lines where one is not',
    { tags: ['context-tree§6:range-result'] },
    () => {
      expect(compare('{"b":1,"a":[1,2]}', '{"a":[1,2,3],"b":1}', 'jsonpatch')).toEqual({
        mode: 'jsonpatch',
        mime: 'application/json-patch+json',
        summary: { bytesNewer: 19, bytesOlder: 17, identical: false, truncated: false },
        patch: [{ op: 'add', path: '/a/-', value: 3 }],
      });
      expect(compare({ x: 1 }, { y: 1 }, 'jsonpatch').patch).toEqual([
        { op: 'remove', path: '/x' },
        { op: 'add', path: '/y', value: 1 },
      ]);
      expect(compare('{"a":1}', 'no JSON', 'jsonpatch').mode).toBe('unified');
      expect(compare(undefined, '{"a":1}', 'jsonpatch').mode).toBe('unified');
    },
  );

  it('is runs of words', { tags: ['context-tree§6:range-result'] }, () => {
    expect(compare('The cat sat.', 'The big cat sat!', 'tokens').hunks).toEqual([
      { op: 'equal', text: 'The ' },
      { op: 'insert', text: 'big ' },
      { op: 'equal', text: 'cat sat' },
      { op: 'delete', text: '.' },
      { op: 'insert', text: '!' },
    ]);
  });

  it(
    'a patch makes the newer of the older, and words the one or the other',
    { tags: ['context-tree§6:range-result'] },
    () => {
      fc.assert(
        fc.property(anyJson(3), anyJson(3), (a, b) => {
          const [older, newer] = [{ v: a }, { v: b }].map(
            (each) => JSON.parse(JSON.stringify(each)) as WideJson,
          );
          const { patch } = compare(older, newer, 'jsonpatch');
          const patched = structuredClone(older);
          expect(applyPatch(patched, patch as unknown as Operation[]).every((each) => each === null)).toBe(
            true,
          );
          expect(patched).toEqual(newer);
        }),
        { numRuns: 100 },
      );
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
          const { hunks = [] } = compare(a, b, 'tokens');
          const side = (left: string): string =>
            hunks
              .filter(({ op }) => op !== left)
              .map(({ text }) => text)
              .join('');
          expect([side('insert'), side('delete')]).toEqual([a, b]);
        }),
        { numRuns: 100 },
      );
    },
  );

  it.each<[string, ContentMode, WideJson, WideJson]>([
    ['lines', 'unified', 'a\n'.repeat(100_000), 'b\n'.repeat(100_000)],
    ['words', 'tokens', 'a '.repeat(100_000), 'b '.repeat(100_000)],
    ['bytes', 'jsonpatch', 'x'.repeat(3_000_000), 'y'.repeat(3_000_000)],
    [
      'values',
      'jsonpatch',
      Array.from({ length: 20_000 }, (_, i) => i),
      Array.from({ length: 20_000 }, (_, i) => -i),
    ],
  ])(
    'of very many %s is left out or whole, in bounded time',
    { tags: ['context-tree§6:hostile'] },
    (_what, mode, older, newer) => {
      const started = performance.now();
      const { summary, patch } = compare(older, newer, mode);
      expect(summary.truncated || patch?.length === 1).toBe(true);
      expect(performance.now() - started).toBeLessThan(5_000);
    },
  );
});
