import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One document of the spec and its rules: id → a few words; and which of them this version leaves out: id → why. */
export type SpecDocument = {
  readonly document: string;
  readonly title: string;
  readonly rules: Readonly<Record<string, string>>;
  readonly later?: Readonly<Record<string, string>>;
};

/** The rules of the spec, as `docs/spec-rules.json` lists them. */
export function readSpecRules(root: string): SpecDocument[] {
  return JSON.parse(readFileSync(join(root, 'docs', 'spec-rules.json'), 'utf8')) as SpecDocument[];
}

/** The page of a document's rules, as seen from docs: `rules/pact-05.md`. */
export function pageOf(document: string): string {
  return `rules/${document.toLowerCase().replace(' ', '-')}.md`;
}

/** The section a rule belongs to: `context-tree §10` for `context-tree §10.14`, `record §2` for `record §2: stale`. */
export function sectionOf(rule: string): string {
  return /^.* §\d+/.exec(rule)?.[0] ?? rule.replace(/:.*$/, '');
}
