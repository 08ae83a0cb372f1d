import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { citedTexts } from './cited-texts.ts';
import { keyOf, readRulePages, type RulePage } from './rule-pages.ts';
import { readSpecRules } from './spec-rules.ts';

/** A citation and its location. `anchor` must be on the page of `document`; undefined: no page is named. */
export type Citation = {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly document: string | undefined;
  readonly anchor: string;
};

const FILES = ['*.md', '{packages,services,bench,examples,scripts,docs}/**/*.{ts,tsx,md}'];
const NOT_READ = [
  ...['**/node_modules/**', '**/dist/**'],
  // Generated from what is checked where it was written.
  'docs/spec-coverage.md',
  // Made-up citations, on purpose.
  'scripts/{spec-coverage,rule-citations}.unit.test.ts',
];

/** What may stand between two citations of one list: `record §2, §3`, `record §1 to §5`. */
const CONNECTED = /^[\s,;–-]*$/;
const WORDS_OF_A_SENTENCE = new Set(['and', 'in', 'of', 'or', 'see', 'to']);

/** The name of a rule ends where the sentence or the bracket continues. */
const NAME = '[^\\s,;()[\\]\'"`*.](?:[^,;()[\\]\'"`*.]*[^\\s,;()[\\]\'"`*.])?';

/**
 * Every citation in the repository that resolves to nothing, as `file:line: citation: why`; and every rule of
 * docs/spec-rules.json that is on no page of docs/rules.
 */
export function wrongCitations(root: string): string[] {
  const pages = readRulePages(root);
  const decisions = globSync('docs/decisions/*.md', { cwd: root }).map((file) => basename(file));
  const cited = globSync(FILES, { cwd: root, exclude: NOT_READ })
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((file) => citationsIn(file, readFileSync(join(root, file), 'utf8'), pages));
  const listed = readSpecRules(root).flatMap(({ rules }) =>
    Object.keys(rules).flatMap((rule) => citationsIn('docs/spec-rules.json', `"[${rule}]"`, pages)),
  );
  return [...cited, ...listed].flatMap((citation) => {
    const reason = reasonAgainst(citation, pages, decisions);
    return reason === undefined ? [] : [`${citation.file}:${citation.line}: ${citation.text}: ${reason}`];
  });
}

/**
 * The citations of one file, in its order: `context-tree §3.1`, `record §3: batches`, `[snapshots: read]`,
 * `decision 0042`, and of tags of tests, `record§3:batches`, what stands before the name. A `§` without a page continues a
 * list (`record §2, §3`); else it belongs, on a page of rules, to that page, and elsewhere to the page that the same text named last.
 */
export function citationsIn(file: string, source: string, pages: readonly RulePage[]): Citation[] {
  const pattern = citationPattern(pages);
  const home = pages.find((page) => page.file === file)?.document;
  return citedTexts(file, source).flatMap(({ start, text }) => {
    const found: Citation[] = [];
    let previous: { readonly document: string | undefined; readonly end: number } | undefined;
    for (const match of text.matchAll(pattern)) {
      const { foreign, decision, page, other, number, name, key, word } = match.groups ?? {};
      if (foreign !== undefined) continue;
      const line = source.slice(0, start + match.index).split('\n').length;
      const at = { file, line, text: match[0].replace(/\s+/g, ' ') };
      if (decision !== undefined) {
        found.push({ ...at, document: 'decision', anchor: decision.padStart(4, '0') });
        continue;
      }
      const unknown = other === undefined || WORDS_OF_A_SENTENCE.has(other.toLowerCase()) ? undefined : other;
      const named = (page ?? key ?? unknown)?.replace(/^(PACT)[\s-]+/i, '$1 ');
      const continues = previous && CONNECTED.test(text.slice(previous.end, match.index));
      const document = named ?? (continues ? previous?.document : (home ?? previous?.document));
      const section = number === undefined ? '' : `§${number}`;
      const rule = name ?? word;
      found.push({ ...at, document, anchor: rule === undefined ? section : `${section}: ${keyOf(rule)}` });
      previous = { document, end: match.index + match[0].length };
    }
    return found;
  });
}

/** Why a citation resolves to nothing; undefined if it resolves. */
export function reasonAgainst(
  { document, anchor }: Citation,
  pages: readonly RulePage[],
  decisions: readonly string[],
): string | undefined {
  if (document === undefined) return 'names no page of docs/rules; write the page before the §.';
  if (document === 'decision') {
    const exists = decisions.some((name) => name.startsWith(`${anchor}-`));
    return exists ? undefined : 'docs/decisions has no such page.';
  }
  const page = pages.find((one) => one.document.toLowerCase() === document.toLowerCase());
  if (page === undefined) return `docs/rules has no page ${document}.`;
  return page.anchors.has(anchor) ? undefined : `${page.file} has no ${anchor.replace(/^: /, 'rule ')}.`;
}

function citationPattern(pages: readonly RulePage[]): RegExp {
  const names = pages.map(({ document }) => document.replace(' ', '[\\s-]+')).join('|');
  const ways = [
    // Numbered sections of other people's documents.
    `(?<foreign>\\b(?:FIPS|RFC)\\s+[\\d-]+)\\s+§`,
    `\\bdecisions?[ /](?<decision>\\d{1,4})\\b`,
    `(?:\\b(?:(?<page>${names})|(?<other>[a-z\\d][\\w-]*))\\s*)?§(?<number>\\d+(?:\\.\\d+)*)(?:(?<=§\\d+):\\s+(?<name>${NAME}))?`,
    // Without a number only in brackets: "the record: a frame and its hash" is prose.
    `(?<=[[(,;\`]\\s*)(?<key>${names}):\\s+(?<word>${NAME})`,
  ];
  return new RegExp(ways.join('|'), 'gi');
}
