import { describe, expect, it } from 'vitest';
import { claimsOf, referencesIn } from './spec-references.ts';
import { specReport } from './spec-report.ts';
import { type SpecDocument, readSpecRules, resolveReference } from './spec-rules.ts';

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
  { document: 'snapshots', title: 'Snapshots', rules: { 'snapshots: read': 'the newest version counts' } },
];

describe('references in the titles of tests', () => {
  it.each([
    ['a plain one', 'ignores a stray [record §2: stale]', ['record §2: stale']],
    ['several of one document', 'orders [record §3.1, §3.2]', ['record §3.1', 'record §3.2']],
    ['several documents', 'both [PACT 05 §4.4; snapshots: read]', ['PACT 05 §4.4', 'snapshots: read']],
    ['several brackets', 'x [record §2] [PACT 05 §4.4]', ['record §2', 'PACT 05 §4.4']],
    ['brackets that are no reference', 'reads [1, 2] and [recorded] and [records §1]', []],
  ])('finds %s', (_what, title, references) => {
    expect(referencesIn(title, documents)).toEqual(references);
  });

  it('are found in titles, tables and templates, and are removed from the shown title', () => {
    const source =
      "it('a stray frame [record §2]', f); it.each([['b [record §3.1]']])(`${'x'} c [record §3.2] d`, g);";

    expect(claimsOf('a.test.ts', source, documents)).toEqual([
      { file: 'a.test.ts', title: 'a stray frame', references: ['record §2'] },
      { file: 'a.test.ts', title: 'b', references: ['record §3.1'] },
      { file: 'a.test.ts', title: '… c d', references: ['record §3.2'] },
    ]);
  });

  it.each([
    ['record §2: stale', 'record §2: stale'],
    ['record §2: some words of its own', 'record §2'],
    ['record §3.1', 'record §3.1'],
    ['snapshots: something else', 'snapshots'],
    ['record §3.7', undefined],
    ['record §9', undefined],
  ])('%s stands for %s', (reference, rule) => {
    expect(resolveReference(reference, documents)).toBe(rule);
  });
});

describe('the page of spec coverage', () => {
  it('lists the rules that a test cites, and the rules that none cites', () => {
    const page = specReport(documents, [
      { file: 'a.test.ts', title: 'a stray frame', references: ['record §2: stale'] },
      { file: 'b.test.ts', title: 'in order', references: ['record §3'] },
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
    const claims = [{ file: 'a.test.ts', title: 'wrong', references: ['record §3.7'] }];

    expect(() => specReport(documents, claims)).toThrow('a.test.ts: [record §3.7] in "wrong"');
  });

  it('refuses to leave out what a test proves, and what is no rule', () => {
    const claims = [{ file: 'a.test.ts', title: 'moved', references: ['PACT 05 §4.5'] }];

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
