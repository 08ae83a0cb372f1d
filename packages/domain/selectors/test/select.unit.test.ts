import { PAYLOADS } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import { isMissing, missing } from '@stemma/suspend';
import { describe, expect, it } from 'vitest';
import { parseSelector } from '../src/parse-selector.ts';
import { select, type Window } from '../src/select.ts';
import { treeOfExport } from './tree-of-export.ts';

const block = (id: string, more: object = {}): object => ({ id, nodeType: 'cb', content: id, ...more });
const exported = (blocks: number): string =>
  JSON.stringify({
    spec_version: 'PACT/0.1.0',
    cycle: 1,
    root: {
      id: 'root',
      children: [
        { id: 'sys', nodeType: '^sys', children: [block('rules', { role: 'system' })] },
        {
          id: 'seq',
          nodeType: '^seq',
          children: [
            {
              id: 't1',
              nodeType: 'mt',
              children: [block('q', { data_lang: 'en' }), block('doc', { offset: -1 })],
            },
            {
              id: 't2',
              nodeType: 'mt',
              created_at_ns: 9,
              children: [{ id: 'c', nodeType: 'mc', children: [block('a')] }],
            },
          ],
        },
        {
          id: 'ah',
          nodeType: '^ah',
          children: Array.from({ length: blocks }, (_, i) => block(`h${String(i).padStart(6, '0')}`)),
        },
      ],
    },
  });

const { tree, payloads } = treeOfExport(exported(2));
let built: ReturnType<typeof treeOfExport> | undefined;
const largeTree = (): ReturnType<typeof treeOfExport> => (built ??= treeOfExport(exported(100_000)));
const ids = (selector: string, window?: Window): readonly string[] =>
  select(tree, parseSelector(selector), payloads, window);

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (isStemmaError(error)) return error.code;
    throw error;
  }
  return 'answered';
};

describe('select', () => {
  it.each([
    ['*', ['root', 'sys', 'rules', 'seq', 't1', 'doc', 'q', 't2', 'c', 'a', 'ah', 'h000000', 'h000001']],
    ['.mt > .cb', ['doc', 'q']],
    ['.mt .cb', ['doc', 'q', 'a']],
    ['.mc > .cb', ['q', 'a', 'h000000', 'h000001']],
    ['.mt > .mc', ['c']],
    ['.mc[offset=0][role=null] > .cb', ['q', 'a', 'h000000', 'h000001']],
    ['^ah > .mc .cb, #rules', ['rules', 'h000000', 'h000001']],
    ["[data_lang='en']", ['q']],
    ['[data_lang]', ['q']],
    ['^seq #a, ^sys #a', ['a']],
    ["#a, #doc, #a, [id='nothing']", ['doc', 'a']],
  ])(
    '%s gives ids in document order, each once',
    { tags: ['context-tree§6:result-order', 'context-tree§6:attributes', 'context-tree§10.28'] },
    (selector, expected) => {
      expect(ids(selector)).toEqual(expected);
    },
  );

  it.each([
    ["[content*='h0000']", ['h000000', 'h000001']],
    ["[content*='H0000']", []],
    ["[content*='']", []],
    [":contains('')", []],
    ["[cycle*='1'], [id*='eq']", ['seq']],
    ["[refs*='two']", ['lists']],
    [":contains('inside')", ['root', 'seq', 't1', 'parts']],
    [".mt:contains('inside') > .cb:last", ['parts']],
    [":contains('text')", ['root', 'seq', 't1', 'parts']],
    ["^seq > :contains('a')", ['t2']],
    ["^ah:contains('it\\'s'), .cb:contains('it\\'s'):last", ['ah', 'lists']],
    [".mc:contains('inside') > .cb", ['parts']],
  ])('%s finds texts within texts', { tags: ['context-tree§6:containing'] }, (selector, expected) => {
    const small = treeOfExport(
      JSON.stringify({
        spec_version: 'PACT/0.1.0',
        cycle: 1,
        root: {
          id: 'root',
          children: [
            { id: 'sys', nodeType: '^sys', children: [] },
            {
              id: 'seq',
              nodeType: '^seq',
              children: [
                {
                  id: 't1',
                  nodeType: 'mt',
                  children: [
                    block('parts', { content: [{ type: 'text', text: 'one inside' }, { n: [1, 'two'] }] }),
                  ],
                },
                {
                  id: 't2',
                  nodeType: 'mt',
                  children: [{ id: 'c', nodeType: 'mc', children: [block('d', { content: 'a b' })] }],
                },
              ],
            },
            {
              id: 'ah',
              nodeType: '^ah',
              children: [
                block('h000000'),
                block('h000001'),
                block('lists', { refs: ['one', 'two'], content: "it's" }),
              ],
            },
          ],
        },
      }),
    );
    expect(select(small.tree, parseSelector(selector), small.payloads)).toEqual(expected);
  });

  it('gives a window, skip before limit', { tags: ['context-tree§6:windows', 'context-tree§10.34'] }, () => {
    expect(ids('.cb', { skip: 1, limit: 2 })).toEqual(['doc', 'q']);
    expect(ids('.cb', { limit: 0 })).toEqual([]);
    expect(ids('.cb', { skip: 99 })).toEqual([]);
  });

  it.each(['^sys', '^seq', '^ah'])(
    'a root before another compound gives what its region holds',
    { tags: ['context-tree§6', 'context-tree§10.26'] },
    (root) => {
      expect(ids(`${root} *`)).toEqual(ids(`#${root.slice(1)} *`));
      expect(ids(`${root} > *`)).toEqual(ids(`#${root.slice(1)} > *`));
      expect(ids(`.mt ${root} *`)).toEqual([]);
    },
  );

  it.each(['.cb[age=0]', '^seq .mt[depth<2]', '[born_turn!=1] > *'])(
    'refuses %s on a position that is no snapshot and says where',
    { tags: ['context-tree§6:attributes-of-snapshots', 'context-tree§10.23'] },
    (text) => {
      const selector = parseSelector(`@s3 ${text}`);
      expect(() => select(tree, selector, payloads, { snapshot: false })).toThrow(
        `at character ${text.indexOf('[') + 6}: only snapshots have`,
      );
      expect(select(tree, selector, payloads)).toBeInstanceOf(Array);
    },
  );

  it('asks for all payloads that are missing at once', { tags: ['context-tree§6'] }, () => {
    const needed = (): number => {
      try {
        select(tree, parseSelector('.cb[data_lang]'), (ref) => {
          throw missing(PAYLOADS, [ref]);
        });
      } catch (error) {
        if (isMissing(error, PAYLOADS)) return error.needs.length;
      }
      return 0;
    };
    expect(needed()).toBe(6);
  });

  it('finds an id in a tree of 100,000 nodes by the id index', { tags: ['context-tree§6'] }, () => {
    const large = largeTree();
    const selector = parseSelector(
      Array.from({ length: 5_000 }, (_, i) => `^ah #h${String(i).padStart(6, '0')}`).join(','),
    );
    select(large.tree, parseSelector('#a'), large.payloads);
    const started = process.cpuUsage();
    expect(select(large.tree, selector, large.payloads, { limit: 2 })).toEqual(['h000000', 'h000001']);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it.each([
    ['groups', '.mt,.cb > .cb,'.repeat(5_000) + '*'],
    ['compounds', '*' + ' *'.repeat(20_000)],
    ['attributes', '.cb' + '[data_x=null]'.repeat(8_000)],
    ['implicit cores', '.mc,'.repeat(20_000) + '.mc'],
    ['groups that differ', Array.from({ length: 10_000 }, (_, i) => `.cb[offset>${-i}]`).join(',')],
    ['children of children', '*' + ' > *'.repeat(25_000)],
    ['matches under each match', '* ' + '.cb:last '.repeat(10_000)],
    ['zones', ':core '.repeat(15_000) + '.cb'],
    ['scopes', 'depth(-1..9) '.repeat(9_000) + '*'],
    ['counting pseudos', '.cb' + ':first'.repeat(15_000)],
    ['depths', `.cb:depth(${'1,'.repeat(60_000)}0)`],
    ['texts to look for', '.cb' + "[content*='y']".repeat(8_000)],
    ['nodes to look into', ":contains('y')" + " :contains('y')".repeat(7_000)],
    ['contents of all', Array.from({ length: 5_000 }, (_, i) => `:contains('y${i}')`).join(',')],
    ['payload attributes', '* .cb' + "[data_x!='y']".repeat(8_000)],
  ])(
    'answers very many %s on 100,000 nodes, or refuses, in bounded time',
    { tags: ['context-tree§6:hostile'] },
    (_what, text) => {
      const large = largeTree();
      const started = performance.now();
      const code = codeOf(() => select(large.tree, parseSelector(text), large.payloads));
      expect(['answered', 'E_SELECTOR_INVALID']).toContain(code);
      expect(performance.now() - started).toBeLessThan(5_000);
    },
  );
});
