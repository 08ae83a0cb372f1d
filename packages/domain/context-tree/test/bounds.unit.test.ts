import { block, codeOf, COMMIT, exportOf, imported, refused, started } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { providerThread } from '../src/index.ts';

const nested = (name: string, depth: number): object => {
  let node: object = { id: `${name}${depth}`, nodeType: 'mc' };
  for (let i = depth - 1; i > 0; i--) node = { id: `${name}${i}`, nodeType: 'mc', children: [node] };
  return node;
};

const insert = (parent: string, node: object) => ({ op: 'insert', parent, node: node as never }) as const;

test(
  'containers nest at most 100 deep, inserted at once or one by one; a block does not count as a level',
  { tags: ['context-tree§3'] },
  () => {
    const session = started();
    session.submit(insert('^sys', nested('a', 99)));
    session.submit(insert('a99', { id: 'last', nodeType: 'mc' }));
    expect(refused(session, insert('last', { id: 'more', nodeType: 'mc' }))).toBe('E_INPUT_TOO_DEEP');
    session.submit(block('leaf', { under: 'last' }));
    expect(session.tree().ids).toContain('leaf');
    session.submit(insert('^sys', nested('b', 100)));
    expect(refused(started(), insert('^sys', nested('c', 101)))).toBe('E_INPUT_TOO_DEEP');
  },
);

test(
  'a move nests containers at most 100 deep, those inside the moved one included',
  { tags: ['context-tree§3'] },
  () => {
    const session = started();
    session.submit(
      insert('^sys', nested('a', 60)),
      insert('^sys', nested('b', 40)),
      insert('^sys', nested('c', 41)),
    );
    expect(refused(session, { op: 'move', id: 'c1', parent: 'a60' })).toBe('E_INPUT_TOO_DEEP');
    expect(refused(session, { op: 'move', id: 'b1', parent: 'a60' })).toBe('taken');
  },
);

test.each([
  ['objects', (inner: unknown) => ({ a: inner })],
  ['lists', (inner: unknown) => [inner]],
])('a content of %s nests at most 300 deep', { tags: ['context-tree§8:codes'] }, (_what, around) => {
  const content = (depth: number): never => {
    let value: unknown = 1;
    for (let i = 0; i < depth; i++) value = around(value);
    return value as never;
  };
  const node = (depth: number) => insert('^ah', { id: 'x', nodeType: 'cb', content: content(depth) });
  expect(refused(started(), node(300))).toBe('taken');
  expect(refused(started(), node(301))).toBe('E_INPUT_TOO_DEEP');
});

test.each([
  ['a number that is none', [Number.NaN], 'E_INPUT_NUMBER'],
  ['an endless number', { a: Number.POSITIVE_INFINITY }, 'E_INPUT_NUMBER'],
  ['an unpaired surrogate', { a: ['\ud800'] }, 'E_INPUT_SURROGATE'],
])(
  'a content that holds %s is refused, however deep it lies',
  { tags: ['context-tree§8:codes'] },
  (_what, content, code) => {
    expect(refused(started(), insert('^ah', { id: 'x', nodeType: 'cb', content }))).toBe(code);
  },
);

test(
  'an export has at most one core in a turn, beside blocks before and after it',
  { tags: ['context-tree§10.3'] },
  () => {
    const turn = (...children: object[]): string =>
      codeOf(() =>
        imported({
          id: 'r',
          nodeType: '^root',
          children: [
            { id: 's', nodeType: '^seq', children: [{ id: 't', nodeType: 'mt', cycle: 1, children }] },
          ],
        }),
      );
    const core = (id: string) => ({ id, nodeType: 'mc', offset: 0, children: [] });
    const beside = (id: string, offset: number) => ({ id, nodeType: 'cb', offset });
    expect(turn(beside('a', -1), core('b'), beside('c', 1))).toBe('taken');
    expect(turn(beside('a', -1), beside('c', 1))).toBe('taken');
    expect(turn(core('a'), core('b'))).toBe('E_TWO_CORES');
    expect(turn(core('a'), beside('b', 0))).toBe('E_TWO_CORES');
  },
);

test(
  'an export whose children are no list, and a key with an unpaired surrogate, are refused',
  { tags: ['context-tree§8:codes'] },
  () => {
    const root = { nodeType: '^root', children: {} };
    expect(codeOf(() => imported(root))).toBe(codeOf(() => imported({ nodeType: '^root', children: 'x' })));
    expect(codeOf(() => imported(root))).not.toBe('taken');
    expect(exportOf(root)).toContain('"children":{}');
    const content = { ['a\ud800']: 1 };
    const node = { id: 'x', nodeType: 'cb', content };
    expect(refused(started(), insert('^ah', node))).toBe('E_INPUT_SURROGATE');
  },
);

test(
  'a block without content appears in a thread as the empty text, like a block whose content is the empty text',
  { tags: ['context-tree§4:provider-thread'] },
  () => {
    const session = started();
    session.submit(insert('^ah', { id: 'none', nodeType: 'cb' }), block('empty', { content: '' }), COMMIT);
    expect((JSON.parse(session.thread()) as { content: string }[]).map(({ content }) => content)).toEqual([
      '',
      '',
    ]);
    const blocks = providerThread(session.tree(), session.history.payload);
    expect(blocks.map(({ content }) => content)).toEqual(['', '']);
  },
);
