/**
 * `pnpm coverage:spec` checks that every cited rule is on a page of docs/rules and has a test that every run has, and writes
 * docs/spec-coverage.md; with `--check` it only says whether the page is current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foundFiles } from './found-files.ts';
import { wrongCitations } from './rule-citations.ts';
import { claimsOf, titlesThatCite } from './spec-references.ts';
import { specReport } from './spec-report.ts';
import { readSpecRules } from './spec-rules.ts';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'spec-coverage.md');

const documents = readSpecRules(root);
const files = foundFiles(root, [
  'packages/*/*/{src,test}/**/*.test.{ts,tsx}',
  'services/*/{src,test}/**/*.test.{ts,tsx}',
  'packages/*/*/src/contract.ts',
  'packages/*/*/src/contract/**/*.ts',
]);
const sources = files.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
const claims = sources.flatMap(([file, source]) => claimsOf(file, source));
const report = specReport(documents, claims);

if (!process.argv.includes('--check')) {
  writeFileSync(page, report);
} else if (read(page) !== report) {
  console.error('docs/spec-coverage.md is not current. Run `pnpm coverage:spec` and look at what changed.');
  process.exitCode = 1;
}

const citedBy = (ofLongStage: boolean): readonly string[] =>
  claims.filter(({ isLong }) => isLong === ofLongStage).flatMap(({ tags }) => tags);
const isRule = (tag: string): boolean => !tag.startsWith('decision-');
const elsewhere = new Set(citedBy(false));
const onlyThere = [...new Set(citedBy(true))].filter((tag) => isRule(tag) && !elsewhere.has(tag));
if (onlyThere.length > 0) {
  console.error(`Rules that only files test which \`npm test\` leaves to CI: ${onlyThere.join('; ')}`);
  process.exitCode = 1;
}

const names = documents.map(({ document }) => document);
const inTitles = sources.flatMap(([file, source]) => titlesThatCite(file, source, names));
if (inTitles.length > 0) {
  console.error('Titles of tests that cite rules, which tags do (CONTRIBUTING.md, Tests):');
  for (const line of inTitles) console.error(`  ${line}`);
  process.exitCode = 1;
}

const wrong = wrongCitations(root);
if (wrong.length > 0) {
  console.error(`Citations of rules that resolve to nothing (docs/rules/README.md says how to cite):`);
  for (const line of wrong) console.error(`  ${line}`);
  process.exitCode = 1;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
