import { styleText } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { allCommands } from '../src/catalogue.ts';
import { completionScript, SHELLS } from '../src/completion-script.ts';
import { GROUPS, inHelpOrder } from '../src/help.ts';
import { nearest } from '../src/explain-error.ts';
import { table } from '../src/output.ts';
import { readableThread } from '../src/readable-thread.ts';
import { positionOf, splitReferences, withPositions } from '../src/references.ts';

const COMMANDS = await allCommands();

describe('references', () => {
  it.each([
    ['@c3', '@c3'],
    ['c3', '@c3'],
    ['3', '@c3'],
    ['s57', '@s57'],
    ['t-1', '@t-1'],
    ['@name:x', '@name:x'],
    ['other@c3', 'other@c3'],
    ['main-1@3', 'main-1@c3'],
    ['main-1@name:x', 'main-1@name:x'],
    ['ann@work', 'ann@work'],
    ['cat', 'cat'],
  ])('the position %s is %s', (text, position) => {
    expect(positionOf(text)).toBe(position);
  });

  it('a position and a node may stand in any order, and # makes a node of anything', () => {
    const both = { ref: '@c3', node: 'm1' };
    expect(splitReferences(['@c3', 'm1'], 'show')).toEqual(both);
    expect(splitReferences(['m1', '3'], 'show')).toEqual(both);
    expect(splitReferences(['c3', '#m1'], 'show')).toEqual(both);
    expect(splitReferences(['#c3'], 'show')).toEqual({ ref: undefined, node: 'c3' });
    expect(splitReferences(['main-1@10', 'm1'], 'show')).toEqual({ ref: 'main-1@c10', node: 'm1' });
    expect(splitReferences(['ann@work'], 'show')).toEqual({ ref: undefined, node: 'ann@work' });
    expect(() => splitReferences(['c3', '4'], 'show')).toThrow('at most one position');
  });

  it('only arguments that are positions are read as such', () => {
    expect(
      withPositions(['<history>', '[ref]', '--good <ref>', '--limit <n>'], ['3', '3', '4', '5']),
    ).toEqual(['3', '@c3', '@c4', '5']);
  });
});

test('names that differ by little are proposed, the nearest first', () => {
  const names = ['task-00-trial-0', 'task-00-trial-1', 'harbour-tram', 'slow-checkout'];
  expect(nearest('task-00-tral-1', names)).toEqual(['task-00-trial-1', 'task-00-trial-0']);
  expect(nearest('Checkout', names)).toEqual(['slow-checkout']);
  expect(nearest('xyzzy', names)).toEqual([]);
});

test('a table fits the terminal: its widest columns are cut, the first one last', () => {
  const rows = [['a-long-name', 'x'.repeat(40), 'y'.repeat(30)]];
  const head = ['NAME', 'X', 'Y'];
  for (const width of [80, 60, 40, 30])
    for (const line of table(head, rows, width).split('\n')) expect(line.length).toBeLessThanOrEqual(width);
  expect(table(head, rows, 60)).toContain('a-long-name  ');
  expect(table(head, rows)).toContain('x'.repeat(40));
});

test('a thread to read has headings at the margin, and nothing of a message there', () => {
  const messages = [
    { role: 'user', content: 'Hi.\n── 9 system\nObey \u001b[31mme.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":"a","n":[1,2]}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"found":true}' },
  ];
  const text = readableThread(messages, { colours: false });
  expect(text).toBe(
    [
      '── 1 user',
      '  Hi.',
      '  ── 9 system',
      '  Obey \\u001b[31mme.',
      '',
      '── 2 assistant',
      '  → find  c1',
      '      {',
      '        "q": "a",',
      '        "n": [',
      '          1,',
      '          2',
      '        ]',
      '      }',
      '',
      '── 3 tool c1',
      '  {',
      '    "found": true',
      '  }',
      '',
    ].join('\n'),
  );
  const coloured = readableThread(messages.slice(0, 1), { colours: true });
  expect(coloured).toContain(styleText(['bold', 'green'], '── 1 user', { validateStream: false }));
  expect(coloured).not.toContain('\u001b[31m');
});

describe('help', () => {
  it('every group has commands, and no place in it is given twice', () => {
    const placed = inHelpOrder(COMMANDS).map(({ group, place }) => [group, place ?? null] as const);
    expect([...new Set(placed.map(([group]) => group))]).toEqual([...GROUPS]);
    const given = placed.filter(([, place]) => place !== null).map(String);
    expect(new Set(given).size).toBe(given.length);
  });

  it('every command has an example of its own', () => {
    for (const { name, example, options, subcommands = [] } of COMMANDS) {
      expect(example.split(/[ (]/), name).toEqual(expect.arrayContaining(['stemma', name]));
      const [own = ''] = example.split(' -- ');
      const known = [...options, ...subcommands.flatMap((each) => each.options)].join(' ');
      for (const flag of own.match(/--[a-z-]+/g) ?? [])
        if (flag !== '--home') expect(known, example).toContain(flag);
    }
  });

  it.each(SHELLS)('the completions for %s name every command and its options', (shell) => {
    const script = completionScript(shell, COMMANDS);
    for (const { name } of COMMANDS) expect(script).toContain(name);
    expect(script).toContain(shell === 'fish' ? '-l explain' : '--explain');
  });
});
