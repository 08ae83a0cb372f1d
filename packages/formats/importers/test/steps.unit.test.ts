import { isStemmaError } from '@stemma/errors';
import { exportTree } from '@stemma/context-tree';
import { describe, expect, it } from 'vitest';
import { readImport } from '../src/read-import.ts';
import { record, sourceOf } from './in-memory.ts';

const START = { op: 'start', steps: 1, about: 'a test' };
const lines = (...steps: object[]): string =>
  [START, ...steps].map((step) => JSON.stringify(step)).join('\n');

const refusal = async (text: string): Promise<[number, string, string]> => {
  let items = 0;
  try {
    for await (const _item of readImport(sourceOf(text))) items += 1;
  } catch (error) {
    if (isStemmaError(error)) return [items, error.code, error.message];
    throw error;
  }
  return [items, 'taken', ''];
};

describe('steps@1', () => {
  it(
    'applies every step that a line names, with one command for each cycle',
    { tags: ['context-tree§3', 'record§3'] },
    async () => {
      const [recorded] = await record(
        sourceOf(
          lines(
            { op: 'insert', parent: '^sys', id: 'plan', role: 'system', content: 'first' },
            {
              op: 'insert',
              at: '2026-03-10T09:00:00Z',
              id: 'q',
              role: 'user',
              kind: 'text',
              content: 'why?',
            },
            { op: 'insert', id: 'doc', offset: -1, ttl: 1, content: 'a page', data_title: 'T' },
            { op: 'insert', id: 'stray', content: 'x' },
            { op: 'remove', id: 'stray' },
            { op: 'commit', at: '2026-03-10T09:00:05Z', turn: 'turn-1' },
            { op: 'name', name: 'asked' },
            { op: 'annotate', note: 'the first' },
            { op: 'replace', id: 'plan', content: 'second', data_revision: 2 },
            { op: 'policy', policy: { max_blocks: 9, keep_turns: 2, pins: [] } },
            { op: 'priorities', priorities: [{ id: 'q', priority: 3 }] },
            { op: 'commit' },
            { op: 'insert', nodeType: 'mc', id: 'box' },
            { op: 'insert', id: 'below', parent: '^sys', content: 'y' },
            { op: 'move', id: 'below', parent: 'box' },
          ),
        ),
      );
      expect(recorded?.commands.map(({ steps }) => steps.map(({ op }) => op))).toEqual([
        ['start', 'insert', 'insert', 'insert', 'insert', 'remove', 'commit'],
        ['name', 'annotate', 'replace', 'policy', 'priorities', 'commit'],
        ['insert', 'insert', 'move'],
      ]);
      expect(recorded?.cycles.map(({ ids }) => ids)).toEqual([
        ['root', 'sys', 'plan', 'seq', 'turn-1', 'doc', 'q', 'ah'],
        ['root', 'sys', 'plan', 'seq', 'turn-1', 'doc', 'q', 'ah'],
      ]);
      const at = recorded?.working.indexOf('q') ?? -1;
      expect(recorded?.working.headers[at]?.created_at_ns).toBe(1_773_133_200_000_000_000n);
      expect(recorded?.working.ids).toEqual([
        'root',
        'sys',
        'plan',
        'seq',
        'turn-1',
        'doc',
        'q',
        'ah',
        'box',
        'below',
      ]);
      expect(recorded?.report.read).toEqual({
        annotate: 1,
        commit: 2,
        insert: 6,
        move: 1,
        name: 1,
        policy: 1,
        priorities: 1,
        remove: 1,
        replace: 1,
        start: 1,
      });
    },
  );

  it.each<[string, object[], string, string]>([
    ['an unknown step', [{ op: 'insrt' }], 'E_INPUT_SHAPE', 'line 2'],
    ['an unknown key', [{ op: 'remove', id: 'x', y: 1 }], 'E_INPUT_SHAPE', 'line 2'],
    ['a time that is none', [{ op: 'commit', at: 'noon' }], 'E_INPUT_SHAPE', 'line 2'],
    ['a time before 1970', [{ op: 'commit', at: '1969-01-01T00:00:00Z' }], 'E_INPUT_SHAPE', 'line 2'],
    ['a second start', [START], 'E_INPUT_SHAPE', 'line 2'],
    [
      'a node that is not there',
      [{ op: 'commit' }, { op: 'commit' }, { op: 'remove', id: 'x' }],
      'E_NODE_NOT_FOUND',
      'line 4',
    ],
    [
      'a second core, after a cycle that is well',
      [
        { op: 'insert', content: 'x' },
        { op: 'commit' },
        { op: 'insert', content: 'x' },
        { op: 'insert', nodeType: 'mc' },
      ],
      'E_TWO_CORES',
      'line 5',
    ],
    [
      'an id that was used before',
      [{ op: 'insert', id: 'a' }, { op: 'remove', id: 'a' }, { op: 'commit' }, { op: 'insert', id: 'a' }],
      'E_NODE_EXISTS',
      'line 5',
    ],
    [
      'a header that never changes',
      [
        { op: 'insert', id: 'a' },
        { op: 'replace', id: 'a', role: 'user' },
      ],
      'E_HEADER_IMMUTABLE',
      'line 3',
    ],
  ])(
    'refuses %s, names the line, and gives no command',
    { tags: ['context-tree§8:codes'] },
    async (_what, steps, code, place) => {
      const [items, found, message] = await refusal(lines(...steps));
      expect([items, found, message.slice(0, place.length)]).toEqual([0, code, place]);
    },
  );
});

describe('pact', () => {
  it(
    'imports an export as the same state: export, import, export gives the same bytes',
    { tags: ['context-tree§4:import'] },
    async () => {
      const [first] = await record(
        sourceOf(
          lines(
            { op: 'insert', id: 'q', at: '2026-03-10T09:00:00Z', role: 'user', content: 'é', ttl: 3 },
            { op: 'commit' },
            { op: 'insert', id: 'open', content: null },
          ),
        ),
      );
      if (first === undefined) throw new Error('nothing was recorded');
      const text = exportTree(first.working, first.payloads);
      const [again] = await record(sourceOf(text), { name: 'again' });
      if (again === undefined) throw new Error('nothing was recorded');
      expect(exportTree(again.working, again.payloads)).toBe(text);
      expect(again.commands.map(({ steps }) => steps.map(({ op }) => op))).toEqual([['import']]);
      expect(again.report.read).toMatchObject({ nodes: 7, cycles: 1, 'type cb': 2 });
    },
  );
});
