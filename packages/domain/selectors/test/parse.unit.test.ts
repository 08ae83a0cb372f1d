import { isStemmaError } from '@stemma/errors';
import { describe, expect, it } from 'vitest';
import { parseRef } from '../src/parse-ref.ts';
import { parseSelector } from '../src/parse-selector.ts';

const node = { kind: 'node', root: null, id: null, type: null, attributes: [], pseudos: [] };

/** The code and the character of a refusal. */
const refusal = (run: () => unknown): [string, unknown] => {
  try {
    run();
  } catch (error) {
    if (isStemmaError(error)) return [error.code, error.detail['at']];
    throw error;
  }
  throw new Error('it was taken');
};

describe('parseSelector', () => {
  it(
    'gives marker, groups, combinators and compounds with their places',
    { tags: ['context-tree§6:grammar', 'context-tree§6:types-and-ids'] },
    () => {
      expect(
        parseSelector(
          "@t-1 ^seq .mt:depth(1..2) > .cb:summary(ttl<=2 key)[role='a\\'b']:nth(2), #cb:u2:first",
        ),
      ).toEqual({
        at: { kind: 't', value: -1 },
        groups: [
          [
            { combinator: 'start', position: 5, compound: { ...node, root: '^seq' } },
            {
              combinator: 'descendant',
              position: 10,
              compound: {
                ...node,
                type: { name: 'mt', sub: null },
                pseudos: [{ name: 'depth', depths: { kind: 'span', from: 1, to: 2 } }],
              },
            },
            {
              combinator: 'child',
              position: 28,
              compound: {
                ...node,
                type: { name: 'cb', sub: 'summary' },
                attributes: [
                  { key: 'ttl', op: '<=', value: 2, position: 40 },
                  { key: 'key', op: null, value: null, position: 47 },
                  { key: 'role', op: '=', value: "a'b", position: 52 },
                ],
                pseudos: [{ name: 'nth', n: 2 }],
              },
            },
          ],
          [{ combinator: 'start', position: 73, compound: { ...node, id: 'cb:u2:first' } }],
        ],
      });
    },
  );

  it(
    'keeps integers beyond ±(2^53−1) exactly, so that nanoseconds compare',
    { tags: ['context-tree§2:nanoseconds'] },
    () => {
      const [group] = parseSelector('[created_at_ns=1724670000000000001]').groups;
      expect(group?.[0]?.compound).toEqual({
        ...node,
        attributes: [{ key: 'created_at_ns', op: '=', value: 1724670000000000001n, position: 1 }],
      });
    },
  );

  it.each([
    ['@t-5..@t-1', 't', -5, -1],
    ['@t-5:@t-1', 't', -5, -1],
    ['@t-5..-1', 't', -5, -1],
    ['@t0..@t-2', 't', 0, -2],
    ['@c3..@c9', 'c', 3, 9],
    ['@c3..9', 'c', 3, 9],
    ['@c9:3', 'c', 9, 3],
  ])('reads the range %s', { tags: ['context-tree§5'] }, (text, of, from, to) => {
    expect(parseSelector(`${text} *`).at).toEqual({ kind: 'range', of, from, to });
  });

  it.each([
    ['', 'E_SELECTOR_INVALID', 0],
    ['@t1 .cb', 'E_SELECTOR_INVALID', 2],
    ['@t0.cb', 'E_SELECTOR_INVALID', 3],
    ['@s1..@s2 .cb', 'E_SELECTOR_INVALID', 0],
    ['@*..@name:x .cb', 'E_SNAPSHOT_RANGE_WILDCARD', 0],
    ['@*..@c1 .cb', 'E_SNAPSHOT_RANGE_WILDCARD', 0],
    ['@t0..@c1 .cb', 'E_SNAPSHOT_RANGE_KIND_MISMATCH', 0],
    ['.cb[role=user]', 'E_SELECTOR_INVALID', 9],
    ['.cb[n=01]', 'E_SELECTOR_INVALID', 6],
    ['.cb[n=1e999]', 'E_SELECTOR_INVALID', 6],
    ["[a='\\n']", 'E_SELECTOR_INVALID', 5],
    ['[é=1]', 'E_SELECTOR_INVALID', 1],
    ['*:first', 'E_SELECTOR_INVALID', 1],
    ['*[x]', 'E_SELECTOR_INVALID', 1],
    ['depth(1):first', 'E_SELECTOR_INVALID', 8],
    ['depth(1,2-3)', 'E_SELECTOR_INVALID', 9],
    ['.cb:first[x]', 'E_SELECTOR_INVALID', 9],
    ['.cb#id', 'E_SELECTOR_INVALID', 3],
    ['#a:nth(2)', 'E_SELECTOR_INVALID', 7],
    ['[a*=5]', 'E_SELECTOR_INVALID', 4],
    ['[a*=text]', 'E_SELECTOR_INVALID', 4],
    ['.cb:contains', 'E_SELECTOR_INVALID', 12],
    ['.cb:contains()', 'E_SELECTOR_INVALID', 13],
    [".cb:contains('a'", 'E_SELECTOR_INVALID', 16],
    ['[depth=1]', 'E_SELECTOR_INVALID', 1],
    ["(role='a'ttl=2)", 'E_SELECTOR_INVALID', 9],
    [`.cb${' '.repeat(140_000)}`, 'E_SELECTOR_INVALID', undefined],
  ])(
    'refuses %j and says where',
    {
      tags: [
        'context-tree§8:codes',
        'context-tree§10.22',
        'context-tree§10.31',
        'context-tree§10.32',
        'context-tree§10.33',
        'PACT-06§7:E_SELECTOR_INVALID',
        'PACT-06§7:E_SNAPSHOT_RANGE_WILDCARD',
        'PACT-06§7:E_SNAPSHOT_RANGE_KIND_MISMATCH',
      ],
    },
    (text, code, at) => {
      expect(refusal(() => parseSelector(text))).toEqual([code, at]);
    },
  );

  it.each([
    ['groups', '@t0 ' + '.mt,'.repeat(30_000) + '.mt'],
    ['compounds', '@t0 .mt' + ' > .cb'.repeat(20_000)],
    ['brackets', '['.repeat(130_000)],
    ['a text full of escapes', `[a='${'\\\\'.repeat(60_000)}']`],
    ['an id', '#' + 'a:'.repeat(60_000)],
    ['depths', `.mt:depth(${'1,'.repeat(60_000)}1)`],
  ])('reads or refuses very many %s in bounded time', { tags: ['context-tree§6:hostile'] }, (_what, text) => {
    const started = performance.now();
    try {
      parseSelector(text);
    } catch (error) {
      expect(isStemmaError(error, 'E_SELECTOR_INVALID')).toBe(true);
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('parseRef', () => {
  it.each([
    ['', { branch: null, at: { kind: 'working' } }],
    ['@t0', { branch: null, at: { kind: 't', value: 0 } }],
    ['@t-12', { branch: null, at: { kind: 't', value: -12 } }],
    ['@c12', { branch: null, at: { kind: 'c', cycle: 12 } }],
    ['@s57', { branch: null, at: { kind: 's', seq: 57 } }],
    ['@name:before_2.x', { branch: null, at: { kind: 'name', name: 'before_2.x' } }],
    ['@*', { branch: null, at: { kind: 'all' } }],
    ['main@c3', { branch: 'main', at: { kind: 'c', cycle: 3 } }],
  ])('%j names a position', { tags: ['context-tree§5:positions'] }, (text, ref) => {
    expect(parseRef(text)).toEqual(ref);
  });

  it.each(['t0', '@', '@c', '@c1..@c2', '@c1 ', '@name:', '@t1', 'x@y@c1'])(
    'refuses %j, which names no position',
    { tags: ['context-tree§5:positions', 'context-tree§10.22'] },
    (text) => {
      expect(refusal(() => parseRef(text))[0]).toBe('E_SELECTOR_INVALID');
    },
  );
});
