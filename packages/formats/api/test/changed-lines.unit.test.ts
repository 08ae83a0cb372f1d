import { textDifferences } from '@stemma/model-apis';
import { expect, test } from 'vitest';
import { changedLines } from '../src/index.ts';

const shown = (a: string, b: string): readonly string[] =>
  changedLines(textDifferences(a, b)).map((line) =>
    line.what === 'equal'
      ? `(${line.lines})`
      : line.parts
          .map(({ kind, text }) =>
            kind === 'same' ? text : kind === 'removed' ? `[-${text}-]` : `{+${text}+}`,
          )
          .join(''),
  );

const TEN = Array.from({ length: 10 }, (_, i) => `line ${'abcdefghij'[i]}`);
const ten = (changed: Readonly<Record<number, string>>): string =>
  TEN.map((line, i) => changed[i] ?? line).join('\n');

test.for<[name: string, a: string, b: string, lines: readonly string[]]>([
  ['a text of one line', 'pier 2: 3 ships', 'pier 2: 9 ships', ['pier 2: [-3-]{+9+} ships']],
  ['one line of ten', ten({}), ten({ 4: 'line X' }), ['(3)', 'line d', 'line [-e-]{+X+}', 'line f', '(4)']],
  [
    'two changes that share a line around them',
    ten({}),
    ten({ 0: 'line X', 2: 'line Y' }),
    ['line [-a-]{+X+}', 'line b', 'line [-c-]{+Y+}', 'line d', '(6)'],
  ],
  ['a line more', 'one\ntwo', 'one\nnew\ntwo', ['one', '{+new+}', 'two']],
  ['a line less', 'one\nold\ntwo', 'one\ntwo', ['one', '[-old-]', 'two']],
  ['an empty line more', 'one\ntwo', 'one\n\ntwo', ['one', '{++}', 'two']],
  ['a text that was not there', '', 'one\ntwo\n', ['{+one+}', '{+two+}']],
  ['nothing', 'one\ntwo\n', 'one\ntwo\n', ['(2)']],
])('shows the changed lines with one around them: %s', ([, a, b, lines]) => {
  expect(shown(a, b)).toEqual(lines);
});

test('long equal parts of a line are cut, changed ones are not', () => {
  const [before, behind] = ['a '.repeat(200), ' z'.repeat(200)];
  const [line = ''] = shown(`${before}3${behind}`, `${before}9${behind}`);
  expect(line).toContain('[-3-]{+9+}');
  expect(line.length).toBeLessThan(150);
});
