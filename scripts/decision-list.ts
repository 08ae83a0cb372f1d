import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foundFiles } from './found-files.ts';

/** What became of a decision, and the file of the decision that says so. */
type Decision = {
  readonly file: string;
  readonly title: string;
  readonly status: 'in force' | 'changed' | 'superseded';
  readonly successors: readonly string[];
};

const HEAD = `# Decisions

Which decisions shaped Stemma, which of them hold, and what came after those that do not. A decision is a file, is never
deleted, and says in its own words by what it was changed or superseded; \`pnpm exec node scripts/decision-list.ts\` writes this
table from them.

`;

const ROOT = join(import.meta.dirname, '..');

/** The decisions in `docs/decisions`, by number. @throws for one without a title */
const readDecisions = (): readonly Decision[] =>
  foundFiles(ROOT, ['docs/decisions/[0-9]*.md']).map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const title = /^# (?:\d+[.:] )?(.+?)(?: \(superseded by \d+\))?$/m.exec(text)?.[1];
    if (title === undefined) throw new Error(`${path} has no title`);
    const superseding = successorsIn(text, /^\(Superseded by /);
    const changing = successorsIn(text, /^\*\*(?:Changed by|Revisited)\*\*/);
    return {
      file: path.slice('docs/decisions/'.length),
      title,
      status: superseding.length > 0 ? 'superseded' : changing.length > 0 ? 'changed' : 'in force',
      successors: [...superseding, ...changing],
    };
  });

/** The files of decisions that paragraphs link which begin so. */
const successorsIn = (text: string, beginning: RegExp): readonly string[] =>
  text
    .split('\n\n')
    .filter((paragraph) => beginning.test(paragraph))
    .flatMap((paragraph) => [...paragraph.matchAll(/\]\((\d{4}-[^)]+\.md)\)/g)].map(([, file = '']) => file));

/** The page `docs/decisions/README.md`. */
export const decisionList = (): string => {
  const rows = readDecisions().map(({ file, title, status, successors }) => {
    const links = successors.map((each) => `[${each.slice(0, 4)}](${each})`).join(', ');
    return `| [${file.slice(0, 4)}](${file}) | ${title} | ${status} | ${links} |`;
  });
  return `${HEAD}| number | title | status | successor |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
};

if (import.meta.main) writeFileSync(join(ROOT, 'docs/decisions/README.md'), decisionList());
