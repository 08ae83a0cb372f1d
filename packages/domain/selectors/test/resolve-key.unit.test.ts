import { expect, test } from 'vitest';
import { resolveKey } from '../src/index.ts';
import { treeOfExport } from './tree-of-export.ts';

const block = (id: string, time: number, index: number): object => ({
  id,
  nodeType: 'cb',
  key: 'rules',
  created_at_ns: time,
  creation_index: index,
});
const turn = (id: string, time: number, children: readonly object[]): object => ({
  id,
  nodeType: 'mt',
  created_at_ns: time,
  children,
});

test(
  'a key of several nodes means the deepest, then the newest, then the last created, then the first by id',
  { tags: ['context-tree§6:resolve'] },
  () => {
    const { tree } = treeOfExport(
      JSON.stringify({
        spec_version: 'PACT/0.1.0',
        cycle: 3,
        root: {
          id: 'root',
          children: [
            { id: 'sys', nodeType: '^sys', children: [block('s', 900, 0)] },
            {
              id: 'seq',
              nodeType: '^seq',
              children: [
                turn('t1', 1, [block('z', 10, 1), block('b', 20, 0), block('a', 20, 0), block('c', 20, 2)]),
                turn('t2', 2, [block('n', 800, 0)]),
              ],
            },
            { id: 'ah', nodeType: '^ah', children: [block('h', 950, 0)] },
          ],
        },
      }),
    );
    expect(resolveKey(tree, 'rules')).toEqual(['c', 'a', 'b', 'z', 'n', 'h', 's']);
    expect(resolveKey(tree, 'nothing')).toEqual([]);
  },
);
