import { expect, test } from 'vitest';
import { runsAtLoad } from './mutants/at-load.ts';
import { chooseMutants } from './mutants/choose.ts';
import { findMutants } from './mutants/find-mutants.ts';
import { progressOf } from './mutants/journal.ts';
import { reportOf, resultOf } from './mutants/report.ts';
import { withSwitches } from './mutants/schemata.ts';

const found = (text: string): string[] =>
  findMutants('x.ts', text).map(({ kind, original, replacement }) => `${kind}: ${original} → ${replacement}`);

test.each([
  [
    'const f = (a: number) => a < 1;',
    ['boundary: a < 1 → a <= 1', 'negated: a < 1 → a >= 1', 'constant: 1 → 2', 'constant: 1 → 0'],
  ],
  [
    'f(a && b);',
    ['statement: f(a && b); → ', 'logic: a && b → (a) || (b)', 'operand: a && b → a', 'operand: a && b → b'],
  ],
  ['const x = a ?? b;', ['fallback: a ?? b → a']],
  ['const x = list.filter(f);', ['method: list.filter(f) → list']],
  ['const x = list?.filter(f);', []],
  ['const x = c ? a : b;', ['condition: c → true', 'condition: c → false']],
  ['const x = { ...a };', ['spread: a → {}']],
  [
    'if (!a) return;',
    ['condition: !a → true', 'condition: !a → false', 'operator: !a → a', 'statement: return; → '],
  ],
  ["throw fail('E_IO', `after ${a + b} bytes`, { at: 1 });", []],
  ["const x = 'text' + y;", []],
  ['type X = 1 | 2;', []],
])('the mutants of %s', (text, expected) => {
  expect(found(text)).toEqual(expected);
});

test('one text holds all mutants, each behind its switch, nested ones too; with all switches off it behaves as before', () => {
  const text =
    'if (a > 5) out.push(7); else if (a > 1) out.push(a < 3 && b.slice(1).length > 0 ? 1 : 2); else out.push(9);';
  const mutants = findMutants('x.ts', text).map((mutant, i) => ({ ...mutant, number: i + 1 }));
  const run = (source: string, active: number): unknown => {
    const out: number[] = [];
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the text is what is tested
    new Function('out', 'a', 'b', '__stemmaMutant', source)(out, 2, [1, 2], (n: number) => n === active);
    return out;
  };
  const all = withSwitches(text, mutants);
  expect(run(all, 0)).toEqual(run(text, 0));
  for (const { number, from, to, replacement, isStatement } of mutants)
    expect(run(all, number)).toEqual(
      run(text.slice(0, from) + (isStatement ? '{}' : replacement) + text.slice(to), 0),
    );
});

test('code outside of every function runs while its module is loaded', () => {
  const text = 'const A = 1; const f = (b = 2) => { return 3; };';
  expect(['1', '2', '3'].map((each) => runsAtLoad(text, text.indexOf(each)))).toEqual([true, false, false]);
});

test('the same seed chooses the same mutants, and each package gets its share, but at least the minimum', () => {
  const mutants = (name: string, count: number) =>
    findMutants(`packages/room/${name}/src/x.ts`, 'f();\n'.repeat(count));
  const all = new Map([
    ['large', mutants('large', 300)],
    ['small', mutants('small', 5)],
  ]);
  const choose = (seed: number) => chooseMutants(all, { seed, count: 30, least: 4 });
  expect(choose(7)).toEqual(choose(7));
  expect(choose(7)).not.toEqual(choose(8));
  const names = choose(7).map(({ file }) => file.split('/')[2]);
  expect([
    names.filter((name) => name === 'large').length,
    names.filter((name) => name === 'small').length,
  ]).toEqual([30, 4]);
});

test('a mutant that ends its process counts as noticed; one that is listed as equivalent counts as changing nothing', () => {
  const progress = progressOf([
    { what: 'baseline', file: 'a' },
    { what: 'covered', file: 'a', mutants: [1, 2, 3], broken: [] },
    { what: 'try', file: 'a', mutant: 1 },
    { what: 'baseline', file: 'a' },
    { what: 'covered', file: 'a', mutants: [1, 2, 3], broken: [] },
    { what: 'try', file: 'a', mutant: 2 },
    { what: 'passed', file: 'a', mutant: 2 },
    { what: 'try', file: 'a', mutant: 3 },
    { what: 'noticed', file: 'a', mutant: 3, by: 'a > b' },
    { what: 'done', file: 'a' },
  ]);
  const mutants = findMutants('packages/room/p/src/x.ts', 'f();\ng();\nh();\ni();\nj();').map(
    (mutant, i) => ({
      ...mutant,
      number: i + 1,
      isStatic: false,
      only: null,
    }),
  );
  const same = {
    file: 'packages/room/p/src/x.ts',
    original: 'j();',
    replacement: '',
    reason: 'j does nothing',
  };
  const result = resultOf(mutants, progress, [same]);
  expect(result.mutants.map(({ outcome }) => outcome)).toEqual([
    'noticed',
    'survived',
    'noticed',
    'uncovered',
    'equivalent',
  ]);
  expect(reportOf(result).split('\n').slice(2, 4)).toEqual([
    '| p | 5 | 1 | 2 | 50 % |',
    '| all | 5 | 1 | 2 | 50 % |',
  ]);
  const elsewhere = { ...same, line: 'j(); // of another line' };
  const outcomes = (line: string) =>
    resultOf(mutants, progress, [elsewhere], () => line).mutants.map(({ outcome }) => outcome);
  expect(outcomes('j(); // of another line').at(-1)).toBe('equivalent');
  expect(outcomes('j();').at(-1)).toBe('uncovered');
});
