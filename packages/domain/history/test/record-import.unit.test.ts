import type { ImportSummary } from '@stemma/events';
import { expect, test } from 'vitest';
import { boundImport, importStep, parseCommand } from '../src/index.ts';

const named = (count: number, name: (i: number) => string): { [name: string]: number } =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), i + 1]));
const bound = (summary: ImportSummary): ImportSummary =>
  boundImport({ format: 'claude-code', summary }).summary;

test('the 200 most frequent names of a file are recorded, and the others together', () => {
  const { dropped = {}, models } = bound({ dropped: named(300, (i) => `field ${i}`), models: { a: 1 } });
  expect(Object.keys(dropped)).toHaveLength(201);
  expect(dropped['field 299']).toBe(300);
  expect(dropped['field 99']).toBeUndefined();
  expect(dropped['(others)']).toBe((100 * 101) / 2);
  expect(models).toEqual({ a: 1 });
});

test('a name has 200 characters; names that are one then are counted together', () => {
  const [long, longer] = [`${'🚀'.repeat(150)}a`, `${'🚀'.repeat(150)}b`];
  const { models = {}, warnings } = bound({
    models: { [long]: 2, [longer]: 3, short: 1 },
    warnings: [{ code: 'W_LINE_CUT', count: 1, first: long }],
  });
  const [[name, count] = ['', 0], ...rest] = Object.entries(models);
  expect([name.length, name.isWellFormed(), count, rest]).toEqual([200, true, 5, [['short', 1]]]);
  expect(warnings).toEqual([{ code: 'W_LINE_CUT', count: 1, first: name }]);
});

test('what is recorded of an import stays the same if it is recorded once more', () => {
  const facts = {
    format: 'claude-code',
    title: 't'.repeat(500),
    version: 'v'.repeat(500),
    summary: { dropped: named(500, (i) => `${'n'.repeat(300)}${i}`), models: named(450, (i) => `m${i}`) },
  };
  const once = boundImport(facts);
  expect(boundImport(once)).toEqual(once);
  expect([once.title?.length, once.version?.length]).toEqual([200, 200]);
});

test('names that no record can hold are recorded as others, and none of them is lost', () => {
  const names = JSON.parse('{"__proto__": 4, "constructor": 2, "a\\ud800b": 1}') as {
    [name: string]: number;
  };
  const step = importStep({ format: 'claude-code', title: '\udc00', summary: { messages_by_role: names } });
  expect(step).toEqual({
    op: 'record_import',
    format: 'claude-code',
    title: '\ufffd',
    summary: { messages_by_role: { '(__proto__)': 4, '(constructor)': 2, 'a\ufffdb': 1 } },
  });
  expect(
    parseCommand({ id: 'c', history: 'h', branchId: 0, by: { recorder: 'r' }, steps: [step] }),
  ).toMatchObject({
    steps: [step],
  });
});

test('counts beyond what a number holds exactly stay numbers that can be recorded', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const long = 'n'.repeat(300);
  expect(bound({ models: { [long]: most, [`${long}m`]: most } }).models).toEqual({
    [`${'n'.repeat(199)}…`]: most,
  });
});
