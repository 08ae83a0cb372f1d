import { describe, expect, it } from 'vitest';
import { rulesByTag, testTags } from './rule-tags.ts';
import { claimsOf, titlesThatCite } from './spec-references.ts';
import { specReport } from './spec-report.ts';
import { type SpecDocument, readSpecRules } from './spec-rules.ts';

const documents: SpecDocument[] = [
  {
    document: 'record',
    title: 'The record',
    rules: {
      'record §2: stale': 'what does not fit is ignored',
      'record §3.1': 'first',
      'record §3.2': 'second',
    },
  },
  {
    document: 'PACT 05',
    title: 'PACT 05',
    rules: { 'PACT 05 §4.4': 'order', 'PACT 05 §4.5': 'moves' },
    later: { 'PACT 05 §4.5': 'nothing is explained yet' },
  },
  { document: 'snapshots', title: 'Snapshots', rules: { 'snapshots: tree hash': 'of all nodes' } },
];

describe('tags of tests', () => {
  it('cite rules, sections and decisions', () => {
    expect([...rulesByTag(documents)]).toEqual([
      ['record§2:stale', 'record §2: stale'],
      ['record§3.1', 'record §3.1'],
      ['record§3.2', 'record §3.2'],
      ['PACT-05§4.4', 'PACT 05 §4.4'],
      ['PACT-05§4.5', 'PACT 05 §4.5'],
      ['snapshots:tree-hash', 'snapshots: tree hash'],
      ['record§2', 'record §2'],
      ['record§3', 'record §3'],
      ['PACT-05§4', 'PACT 05 §4'],
      ['snapshots', 'snapshots'],
    ]);
  });

  it('are those that Vitest knows, each once, of one word: it refuses a test with another', () => {
    const names = testTags(`${import.meta.dirname}/..`).map(({ name }) => name);
    expect(names).toContain('record§2:stale');
    expect(names).toContain('decision-0089');
    expect(names.filter((name, i) => /[\s!()*|&]/.test(name) || names.indexOf(name) !== i)).toEqual([]);
    expect(names).not.toContain('record§9');
  });

  it('are found at titles, templates, tables of tests and groups of tests', () => {
    const source =
      "it('a stray frame', { tags: ['record§2', 'record§3'] }, f);" +
      "describe('all', { timeout: 1, tags: ['record§3.1'] }, () => { it.each([1])(`${'x'} c`, { tags: ['a'] }, g); });" +
      "const CASES = [{ title: 'b', tags: ['record§3.2'] }]; it('plain', f);" +
      "it('dear', { tags: ['long', 'record§4'] }, f);";

    expect(claimsOf('a.test.ts', source)).toEqual([
      { file: 'a.test.ts', title: 'a stray frame', tags: ['record§2', 'record§3'], isLong: false },
      { file: 'a.test.ts', title: 'all', tags: ['record§3.1'], isLong: false },
      { file: 'a.test.ts', title: '… c', tags: ['a'], isLong: false },
      { file: 'a.test.ts', title: 'b', tags: ['record§3.2'], isLong: false },
      { file: 'a.test.ts', title: 'dear', tags: ['record§4'], isLong: true },
    ]);
  });

  it('stand for citations in titles, which are refused', () => {
    const titles = [
      'a [record §2]',
      'b [decision 0007]',
      'c [snapshots: read] d',
      'reads [1, 2] and [records §1]',
    ];
    const source = titles.map((title) => `it.each([])('${title}', f);`).join('');
    expect(titlesThatCite('a.test.ts', source, ['record', 'snapshots'])).toEqual([
      'a.test.ts: "a [record §2]"',
      'a.test.ts: "b [decision 0007]"',
      'a.test.ts: "c [snapshots: read] d"',
    ]);
  });
});

describe('the page of spec coverage', () => {
  it('lists the rules that a test cites, and the rules that none cites', () => {
    const page = specReport(documents, [
      { file: 'a.test.ts', title: 'a stray frame', tags: ['record§2:stale', 'decision-0007'], isLong: false },
      { file: 'b.test.ts', title: 'in order', tags: ['record§3'], isLong: false },
    ]);

    expect(page).toContain(
      '| [record](rules/record.md) | 3 | 1 | 2 | 0 |\n| [PACT 05](rules/pact-05.md) | 2 | 0 | 1 | 1 |\n',
    );
    expect(page).toContain('## PACT 05\n\nRules: [PACT 05](rules/pact-05.md).\n');
    expect(page).toContain('| all | 6 | 1 | 4 | 1 |\n');
    expect(page).toContain('- PACT 05 §4.5 — moves: nothing is explained yet\n');
    expect(page).not.toContain('- PACT 05 §4.5 — moves\n');
    expect(page).toContain('- record §3.1 — first (its section has tests)\n');
    expect(page).toContain('- PACT 05 §4.4 — order\n');
    expect(page).toContain(
      '- **record §2: stale** — what does not fit is ignored\n  - a stray frame (`a.test.ts`)\n',
    );
    expect(page).toContain('### record §3\n\n- **The section as a whole**\n  - in order (`b.test.ts`)\n');
  });

  it('refuses a test that cites a missing rule', () => {
    const claims = [{ file: 'a.test.ts', title: 'wrong', tags: ['record§3.7'], isLong: false }];

    expect(() => specReport(documents, claims)).toThrow('a.test.ts: record§3.7 of "wrong"');
  });

  it('refuses to leave out what a test proves, and what is no rule', () => {
    const claims = [{ file: 'a.test.ts', title: 'moved', tags: ['PACT-05§4.5'], isLong: false }];

    expect(() => specReport(documents, claims)).toThrow(
      'leaves out PACT 05 §4.5, but a test proves it: moved',
    );
    const [record] = documents;
    if (record === undefined) throw new Error('no document');
    expect(() => specReport([{ ...record, later: { 'record §9': 'x' } }], [])).toThrow(
      'record §9, which is no rule',
    );
  });

  it('knows every numbered ruling of the context tree', () => {
    const rules = readSpecRules(`${import.meta.dirname}/..`).flatMap((document) =>
      Object.keys(document.rules),
    );

    for (let ruling = 1; ruling <= 35; ruling += 1) expect(rules).toContain(`context-tree §10.${ruling}`);
  });
});
