import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { citationsIn, reasonAgainst, wrongCitations } from './rule-citations.ts';
import { type RulePage, anchorsOf } from './rule-pages.ts';

const LEDGER = `# The ledger

For whoever keeps it.

## §1 Entries

- **1.1** _Entry._ An entry is written once.
  - _Two sums._ Each has two.

## §2 Closing

- **2.1** A book is closed at midnight (§1.1).
- _Late entry_, if there is one. It waits (PACT 05 §4.4, §4).
`;

const pages: RulePage[] = [
  { document: 'ledger', file: 'docs/rules/ledger.md', anchors: anchorsOf(LEDGER) },
  { document: 'PACT 05', file: 'docs/rules/pact-05.md', anchors: new Set(['§4', '§4.4']) },
];
const decisions = ['0007-sums-are-integers.md'];

const cited = (file: string, source: string): string[] =>
  citationsIn(file, source, pages).map(({ line, document, anchor }) => `${line} ${document} ${anchor}`);
const reasons = (source: string): (string | undefined)[] =>
  citationsIn('a.ts', source, pages).map((citation) => reasonAgainst(citation, pages, decisions));

describe('a page of rules', () => {
  it('can be cited by section, number and name', () => {
    expect([...anchorsOf(LEDGER)]).toEqual([
      ...['§1', ': entries', '§1.1', '§1: entry', ': entry', '§1: two sums', ': two sums'],
      ...['§2', ': closing', '§2.1', '§2: late entry', ': late entry'],
    ]);
  });
});

describe('citations', () => {
  it.each([
    ['in a comment', '/** Once (ledger §1.1). */', ['1 ledger §1.1']],
    ['in a line comment', 'f(); // See ledger §1', ['1 ledger §1']],
    ['across the lines of a comment', '/**\n * Closed (ledger\n * §2.1).\n */', ['2 ledger §2.1']],
    ['across line comments', '\n// Closed, by ledger\n// §2.1.', ['2 ledger §2.1']],
    [
      'in a text',
      "say('is late [ledger §2: late entry, §1.1]')",
      ['1 ledger §2: late entry', '1 ledger §1.1'],
    ],
    [
      'in tags, but for names',
      "it('x', { tags: ['ledger§2:late-entry', 'PACT-05§4.4', 'ledger§9', 'ledger:exit'] }, f)",
      ['1 ledger §2', '1 PACT 05 §4.4', '1 ledger §9'],
    ],
    ['in a template', '`${x} is [PACT 05 §4.4; ledger: Entry]`', ['1 PACT 05 §4.4', '1 ledger : entry']],
    ['by name only, in a comment', '/** Once (ledger: two sums). */', ['1 ledger : two sums']],
    [
      'in a list',
      '// ledger §1 to §2, §1.1; PACT 05 §4',
      ['1 ledger §1', '1 ledger §2', '1 ledger §1.1', '1 PACT 05 §4'],
    ],
    ['of decisions', '// (decision 7, docs/decisions/0007)', ['1 decision 0007', '1 decision 0007']],
    ['not in types and prose', 'f = (ledger: Entry) => 1; // Such is the ledger: entry by entry.', []],
    ['not of other documents', '// FIPS 180-4 §5.3.1', []],
  ])('are found %s', (_where, source, expected) => {
    expect(cited('a.ts', source)).toEqual(expected);
  });

  it('without a page name refer, on a page of rules, to that page, unless they continue a list', () => {
    expect(cited('docs/rules/ledger.md', LEDGER)).toEqual([
      ...['5 ledger §1', '10 ledger §2', '12 ledger §1.1'],
      ...['13 PACT 05 §4.4', '13 PACT 05 §4'],
    ]);
  });

  it('are not searched for in code blocks of a page', () => {
    expect(
      cited(
        'docs/a.md',
        'One, ledger §1.\n\n```\nledger §9\n```\n\n- two (ledger §2)\n  ```\n  ledger §9\n  ```',
      ),
    ).toEqual(['1 ledger §1', '7 ledger §2']);
  });
});

describe('a made-up citation is reported', () => {
  it.each([
    ['a section', '// ledger §3', 'docs/rules/ledger.md has no §3.'],
    ['a number', '// ledger §1.2', 'docs/rules/ledger.md has no §1.2.'],
    ['a name', "'x [ledger §1: late entry]'", 'docs/rules/ledger.md has no §1: late entry.'],
    ['a name without its section', "'x [ledger: exit]'", 'docs/rules/ledger.md has no rule exit.'],
    ['a page', '// books §1', 'docs/rules has no page books.'],
    ['no page at all', '// Closed (§2).', 'names no page of docs/rules; write the page before the §.'],
    ['a decision', '// decision 0008', 'docs/decisions has no such page.'],
  ])('%s', (_what, source, reason) => {
    expect(reasons(source)).toEqual([reason]);
  });
});

describe('the check of a checkout', () => {
  let root: string;
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'stemma-citations-'));
  });
  afterAll(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('reports file, line and citation for every made-up citation, and every rule that is on no page', () => {
    write('docs/rules/ledger.md', LEDGER.replace('PACT 05 §4.4, §4', '§1'));
    write('docs/decisions/0007-sums-are-integers.md', '# Sums are integers (ledger §1.1)\n');
    const rules = { 'ledger §1: entry': 'once', 'ledger §1.2': 'lost' };
    write('docs/spec-rules.json', JSON.stringify([{ document: 'ledger', title: 'The ledger', rules }]));
    write('packages/books/src/book.ts', '/** Right (ledger §2.1). */\n/** Wrong (ledger §9). */\n');
    write('services/web/test/page.test.tsx', "const late = 'late [ledger: exit]';\n");
    write('README.md', 'See ledger §3.\n');
    write('packages/books/node_modules/other/index.ts', '// ledger §9\n');

    expect(wrongCitations(root)).toEqual([
      'README.md:1: ledger §3: docs/rules/ledger.md has no §3.',
      'packages/books/src/book.ts:2: ledger §9: docs/rules/ledger.md has no §9.',
      'services/web/test/page.test.tsx:1: ledger: exit: docs/rules/ledger.md has no rule exit.',
      'docs/spec-rules.json:1: ledger §1.2: docs/rules/ledger.md has no §1.2.',
    ]);
  });
});
