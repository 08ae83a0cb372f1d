import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { LONG } from './test-tiers.ts';
import { readSpecRules, sectionOf, type SpecDocument } from './spec-rules.ts';

type TestTag = { readonly name: string; readonly skip?: boolean };

/** The tag of a test that proves a rule: `record§2:unknown-key`, `PACT-05§4.4`, `snapshots:read`. Tags have no spaces. */
export const tagOf = (rule: string): string =>
  rule.replace(' §', '§').replace(': ', ':').replaceAll(' ', '-');

/** The rules of the spec and their sections, by their tags. */
export const rulesByTag = (documents: readonly SpecDocument[]): ReadonlyMap<string, string> => {
  const rules = documents.flatMap((document) => Object.keys(document.rules));
  return new Map([...rules, ...rules.map(sectionOf)].map((rule) => [tagOf(rule), rule]));
};

/**
 * All that tests may be tagged with: rules, sections, decisions as `decision-0058`, and `long`. Vitest refuses a test that has any
 * other tag.
 */
export const testTags = (root: string, stage?: 'short' | 'long'): TestTag[] => {
  const decisions = globSync('docs/decisions/[0-9]*.md', { cwd: root }).map(
    (file) => `decision-${basename(file).slice(0, 4)}`,
  );
  const rules = [...rulesByTag(readSpecRules(root)).keys(), ...new Set(decisions)].map((name) => ({ name }));
  return [...rules, { name: LONG, skip: stage === 'short' }];
};
