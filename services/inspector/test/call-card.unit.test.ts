import { followingOf, type TreeNodeAnswer, type TreePage, type WhyAnswer } from '@stemma/api';
import { expect, test } from 'vitest';
import { timeLeft } from '../src/calls/use-held.ts';
import { removedBecause } from '../src/card/removed-because.ts';
import { groupsOf, groupsSince } from '../src/card/shown-rows.ts';
import { columnsOf, readAnswer, readToolCall } from '../src/parts/read-tool-call.ts';

const node = (
  id: string,
  role: string,
  text: string,
  more: Partial<TreeNodeAnswer> = {},
): TreeNodeAnswer => ({
  ...{ id, nodeType: 'cb', offset: 0, ttl: null, priority: 0, cycle: 1, created_at_ns: 0 },
  ...{ created_at_iso: null, creation_index: 0, index: 0, shape: 'block', region: '^seq' },
  ...{ parent: null, depth: 1, new: false, changed: [] },
  content: { text, form: 'text', characters: text.length, complete: true },
  thread: { role, kind: 'text' },
  ...more,
});

const position = (label: string) => ({
  label,
  history: 'h',
  branch: 'h',
  branchId: 0,
  seq: 1,
  cycle: 1,
  committed: true,
});

const page = (label: string, nodes: readonly TreeNodeAnswer[], more: Partial<TreePage> = {}): TreePage => ({
  ...{ position: position(label), previous: position('@c0'), mode: 'full', total: nodes.length, added: 0 },
  ...{ nodes: [...nodes], removed: [], removedTotal: 0 },
  ...more,
});

const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);

test('what left stands apart from what changed, what is new and what was there, and ageing is no change', () => {
  const groups = groupsOf(
    page(
      '@c2',
      [
        node('a', 'system', 'rules', { changed: ['content'] }),
        node('b', 'user', 'hello', { changed: ['ttl'] }),
        node('c', 'assistant', 'new', { new: true }),
        node('turn', 'user', '', { thread: null, new: true }),
      ],
      {
        total: 9,
        removed: [
          {
            ...{ id: 'gone', nodeType: 'cb', role: 'tool', kind: 'result', cycle: 1, cause: 'pruned' },
            content: { text: 'old  words', form: 'text', characters: 10, complete: true },
          },
          {
            id: 'turn-0',
            nodeType: 'mt',
            role: null,
            kind: null,
            cycle: 1,
            cause: 'cascaded',
            content: null,
          },
        ],
      },
    ),
  );
  expect([ids(groups.left), ids(groups.changed), ids(groups.fresh), ids(groups.asBefore)]).toEqual([
    ['gone'],
    ['a'],
    ['c'],
    ['b'],
  ]);
  expect(groups.left[0]).toMatchObject({ text: 'old words', cause: 'pruned' });
  expect(groups.notLoaded).toBe(5);
});

test('since an older call messages are told apart by their ids and contents, and of the first call all is new', () => {
  const older = page('@c1', [node('a', 'system', 'one'), node('b', 'user', 'two')]);
  const newer = page('@c5', [node('a', 'system', 'other'), node('c', 'user', 'three')]);
  const groups = groupsSince(older, newer);
  expect([ids(groups.left), ids(groups.changed), ids(groups.fresh)]).toEqual([['b'], ['a'], ['c']]);
  expect(ids(groupsOf(page('@c1', older.nodes, { previous: null })).fresh)).toEqual(['a', 'b']);
});

test('what followed a call is what the model decided, and the results of its tools', () => {
  const following = followingOf(
    page('@c2', [
      node('said', 'assistant', 'I look.', { new: true }),
      node('found', 'tool', 'it', { new: true }),
      node('next', 'user', 'thanks', { new: true }),
      node('before', 'assistant', 'hello'),
    ]),
  );
  expect([ids(following.decided), ids(following.back)]).toEqual([['said'], ['found']]);
});

test('a call of a tool is read in the form of any API, and what is none is none', () => {
  const input = { to: 'OSL' };
  for (const content of [
    { id: '1', function: { name: 'book', arguments: '{"to":"OSL"}' } },
    { type: 'tool_use', id: '1', name: 'book', input },
    { tool: 'book', arguments: input },
    '{"name":"book","arguments":{"to":"OSL"}}',
  ])
    expect(readToolCall(content)).toMatchObject({ name: 'book', input });
  expect(readToolCall({ function: { name: 'book', arguments: '{"to":' } })).toMatchObject({
    input: '{"to":',
  });
  for (const content of ['book', null, 3, [], {}, { name: 3 }]) expect(readToolCall(content)).toBeNull();
});

test('of an answer texts, thoughts and calls are read, whether its content is a text or a list', () => {
  expect(
    readAnswer({
      content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I book.' }, null],
      tool_calls: [{ function: { name: 'book', arguments: '{}' } }, 7],
    }),
  ).toMatchObject({ texts: ['I book.'], thoughts: ['hm'], calls: [{ name: 'book' }] });
  expect(readAnswer(null)).toEqual({ texts: [], thoughts: [], calls: [] });
});

test('a list of like objects is a table', () => {
  expect(columnsOf([{ a: 1, b: 2 }, { b: 3 }])).toEqual(['a', 'b']);
  for (const list of [[], [1], [{ a: {} }], [{}]]) expect(columnsOf(list)).toBeNull();
});

test('what removed a message is said with its rule, its time, its holder, or who did it and why', () => {
  const removed = (cause: NonNullable<WhyAnswer['removed']>['cause'], notes: string | null = null) =>
    ({
      snapshots: { first: 3, last: 8 },
      removed: { cause, cycle: 9, notes, command: 'c7', author: { actor: 'ann' } },
    }) as WhyAnswer;
  const said = (why: WhyAnswer): string => {
    const because = removedBecause(why, 27);
    return `${because?.what} ${because?.how}`;
  };
  expect(said(removed({ kind: 'pruning', rule: 'max_blocks', rank: 3 }))).toBe(
    'Rule max_blocks removed it before @c9. At most 27 messages are shown, lowest priority and oldest first; this was number 4 in line.',
  );
  expect(said(removed({ kind: 'expiry' }))).toBe(
    'Its time ran out before @c9. It was put in to stay for 6 calls.',
  );
  expect(said(removed({ kind: 'mutation', op: 'remove', by: null }, 'it misled'))).toBe(
    'ann removed it before @c9. “it misled” (command c7)',
  );
  expect(removedBecause({ ...removed({ kind: 'expiry' }), removed: null }, null)).toBeNull();
});

test('the time that a held call has left is in minutes and seconds, in hours where it is long, and never below none', () => {
  expect([252_000, 59_001, 3_725_000, -5].map((left) => timeLeft(1_000 + left, 1_000))).toEqual([
    ...['4:12', '1:00', '1:02:05', '0:00'],
  ]);
});
