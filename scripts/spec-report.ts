import { rulesByTag } from './rule-tags.ts';
import { type Claim } from './spec-references.ts';
import { type SpecDocument, pageOf, sectionOf } from './spec-rules.ts';

/**
 * The page `docs/spec-coverage.md`: which test proves which rule, which rule none, and which this version leaves out.
 * @throws Error when a test cites a rule that the list does not have, or one that is left out.
 */
export function specReport(documents: readonly SpecDocument[], claims: readonly Claim[]): string {
  const proofs = proofsByRule(documents, claims);
  const later = new Map(documents.flatMap((document) => Object.entries(document.later ?? {})));
  const all = documents.flatMap(({ rules }) => Object.keys(rules));
  refuseWrongLater(later, all, proofs);
  const open = all.filter((rule) => !proofs.has(rule) && !later.has(rule));
  const lines = [
    '# Which test proves which rule',
    '',
    "Which test proves a rule? For example, `tags: ['record§2:stale']` in the options of a test says that it",
    'proves the rule `record §2: stale`.',
    '',
    'Written by `pnpm coverage:spec` from the tags of the tests and from the list of rules in',
    '`spec-rules.json`. Do not edit. The rules themselves are in [rules](rules/README.md).',
    '',
    ...table(documents, proofs, later),
    '',
    '## Open: rules without a test of their own',
    '',
    ...listed(documents, open, (rule, words) => {
      const bySection = proofs.has(sectionOf(rule)) ? ' (its section has tests)' : '';
      return `- ${rule} — ${words}${bySection}`;
    }),
  ];
  if (open.length === 0) lines.push('None.', '');
  lines.push(
    '## Not in this version',
    '',
    ...listed(
      documents,
      [...later.keys()],
      (rule, words) => `- ${rule} — ${words}: ${later.get(rule) ?? ''}`,
    ),
  );
  if (later.size === 0) lines.push('Nothing is left out.', '');
  for (const { document, title, rules } of documents) {
    lines.push(`## ${title}`, '', `Rules: [${document}](${pageOf(document)}).`, '');
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

type Proofs = ReadonlyMap<string, readonly string[]>;

/** How many rules of each document are proven, open, and not in this version. */
function table(
  documents: readonly SpecDocument[],
  proofs: Proofs,
  later: ReadonlyMap<string, string>,
): string[] {
  const row = (name: string, rules: readonly string[]): string => {
    const proven = rules.filter((rule) => proofs.has(rule)).length;
    const left = rules.filter((rule) => later.has(rule)).length;
    return `| ${name} | ${rules.length} | ${proven} | ${rules.length - proven - left} | ${left} |`;
  };
  const rows = documents.map(({ document, rules }) =>
    row(`[${document}](${pageOf(document)})`, Object.keys(rules)),
  );
  const all = documents.flatMap(({ rules }) => Object.keys(rules));
  return [
    '| document | rules | proven | open | not in this version |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
    row('all', all),
  ];
}

function listed(
  documents: readonly SpecDocument[],
  chosen: readonly string[],
  line: (rule: string, words: string) => string,
): string[] {
  return documents.flatMap(({ document, rules }) => {
    const own = chosen.filter((rule) => rule in rules);
    return own.length === 0
      ? []
      : [`**${document}**`, '', ...own.map((rule) => line(rule, rules[rule] ?? '')), ''];
  });
}

function refuseWrongLater(later: ReadonlyMap<string, string>, all: readonly string[], proofs: Proofs): void {
  for (const rule of later.keys()) {
    if (!all.includes(rule))
      throw new Error(`docs/spec-rules.json leaves out ${rule}, which is no rule of its list.`);
    if (proofs.has(rule))
      throw new Error(
        `docs/spec-rules.json leaves out ${rule}, but a test proves it: ${proofs.get(rule)?.[0] ?? ''}`,
      );
  }
}

function proofsByRule(documents: readonly SpecDocument[], claims: readonly Claim[]): Map<string, string[]> {
  const rules = rulesByTag(documents);
  const proofs = new Map<string, string[]>();
  const unknown: string[] = [];
  for (const { file, title, tags } of claims) {
    for (const tag of tags.filter((each) => !each.startsWith('decision-'))) {
      const rule = rules.get(tag);
      if (rule === undefined) unknown.push(`  ${file}: ${tag} of "${title}"`);
      else proofs.set(rule, [...(proofs.get(rule) ?? []), `${escapeMarkdown(title)} (\`${file}\`)`]);
    }
  }
  if (unknown.length > 0) {
    throw new Error(
      `Tests have tags of rules that are not in docs/spec-rules.json. Correct the tag or add the rule:\n${unknown.join('\n')}`,
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
