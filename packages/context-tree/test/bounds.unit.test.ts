import { block, codeOf, COMMIT, exportOf, imported, refused, started } from '@stemma/test-kit';
import { expect, test } from 'vitest';

const nested = (name: string, depth: number): object => {
  let node: object = { id: `${name}${depth}`, nodeType: 'mc' };
  for (let i = depth - 1; i > 0; i--) node = { id: `${name}${i}`, nodeType: 'mc', children: [node] };
  return node;
};

const insert = (parent: string, node: object) => ({ op: 'insert', parent, node: node as never }) as const;

test('containers nest at most 100 deep, inserted at once or one by one; a block does not count as a level [context-tree §3]', () => {
  const session = started();
  session.submit(insert('^sys', nested('a', 99)));
  session.submit(insert('a99', { id: 'last', nodeType: 'mc' }));
  expect(refused(session, insert('last', { id: 'more', nodeType: 'mc' }))).toBe('E_INPUT_TOO_DEEP');
  session.submit(block('leaf', { under: 'last' }));
  expect(session.tree().ids).toContain('leaf');
  session.submit(insert('^sys', nested('b', 100)));
  expect(refused(started(), insert('^sys', nested('c', 101)))).toBe('E_INPUT_TOO_DEEP');
});

test('an export whose children are no list, and a key with an unpaired surrogate, are refused [context-tree §8: codes]', () => {
  const root = { nodeType: '^root', children: {} };
  expect(codeOf(() => imported(root))).toBe(codeOf(() => imported({ nodeType: '^root', children: 'x' })));
  expect(codeOf(() => imported(root))).not.toBe('taken');
  expect(exportOf(root)).toContain('"children":{}');
  const content = { ['a\ud800']: 1 };
  const node = { id: 'x', nodeType: 'cb', content };
  expect(refused(started(), insert('^ah', node))).toBe('E_INPUT_SURROGATE');
});

test('a block without content appears in a thread as the empty text, like a block whose content is the empty text [context-tree §4: provider thread]', () => {
  const session = started();
  session.submit(insert('^ah', { id: 'none', nodeType: 'cb' }), block('empty', { content: '' }), COMMIT);
  expect((JSON.parse(session.thread()) as { content: string }[]).map(({ content }) => content)).toEqual([
    '',
    '',
  ]);
});
