import { type Claim } from './spec-references.ts';
import { type SpecDocument, resolveReference, sectionOf } from './spec-rules.ts';

/**
 * The page `docs/spec-coverage.md`: which test proves which rule, and which rule none.
 * @throws Error when a test names a rule that the list does not have.
 */
export function specReport(documents: readonly SpecDocument[], claims: readonly Claim[]): string {
  const proofs = proofsByRule(documents, claims);
  const all = documents.flatMap(({ rules }) => Object.keys(rules));
  const open = all.filter((rule) => !proofs.has(rule));
  const lines = [
    '# Which test proves which rule',
    '',
    'Written by `pnpm coverage:spec` from the titles of the tests, which name the rules they prove in square',
    'brackets, and from the list of rules in `spec-rules.json`. Do not edit.',
    '',
    `${all.length - open.length} of ${all.length} rules are named by a test of their own.`,
    '',
    '## Rules without a test of their own',
    '',
    ...documents.flatMap(({ document, rules }) => {
      const missing = open.filter((rule) => rule in rules);
      if (missing.length === 0) return [];
      return [
        `**${document}**`,
        '',
        ...missing.map((rule) => {
          const bySection = proofs.has(sectionOf(rule)) ? ' (its section has tests)' : '';
          return `- ${rule} — ${rules[rule] ?? ''}${bySection}`;
        }),
        '',
      ];
    }),
  ];
  if (open.length === 0) lines.push('None.', '');
  for (const { title, rules } of documents) {
    lines.push(`## ${title}`, '');
    for (const section of new Set(Object.keys(rules).map(sectionOf))) {
      const inSection = Object.keys(rules).filter((rule) => sectionOf(rule) === section && proofs.has(rule));
      const general = section in rules ? [] : (proofs.get(section) ?? []);
      if (inSection.length === 0 && general.length === 0) continue;
      lines.push(`### ${section}`, '');
      for (const rule of inSection) {
        lines.push(`- **${rule}** — ${rules[rule] ?? ''}`, ...items(proofs.get(rule) ?? []));
      }
      if (general.length > 0) lines.push('- **The section as a whole**', ...items(general));
      lines.push('');
    }
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function proofsByRule(documents: readonly SpecDocument[], claims: readonly Claim[]): Map<string, string[]> {
  const proofs = new Map<string, string[]>();
  const unknown: string[] = [];
  for (const { file, title, references } of claims) {
    for (const reference of references) {
      const rule = resolveReference(reference, documents);
      if (rule === undefined) unknown.push(`  ${file}: [${reference}] in "${title}"`);
      else proofs.set(rule, [...(proofs.get(rule) ?? []), `${escapeMarkdown(title)} (\`${file}\`)`]);
    }
  }
  if (unknown.length > 0) {
    throw new Error(
      `Tests name rules that are not in docs/spec-rules.json. Correct the title or add the rule:\n${unknown.join('\n')}`,
    );
  }
  return proofs;
}

function items(proofs: readonly string[]): string[] {
  return [...new Set(proofs)].map((proof) => `  - ${proof}`);
}

function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_<>[\]|]/g, '\\$&');
}
