import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * A page of docs/rules and what can be cited on it. An anchor is a citation without its page: the section of
 * `context-tree §6`, the numbered rule of `context-tree §3.2`, the section and named rule of `context-tree §6: zones`,
 * and `: zones` alone for a rule or heading that is cited by its name (`snapshots: read`).
 */
export type RulePage = {
  readonly document: string;
  readonly file: string;
  readonly anchors: ReadonlySet<string>;
};

/** The pages of docs/rules, each under the name by which it is cited: `context-tree`, `PACT 05`. */
export function readRulePages(root: string): RulePage[] {
  return globSync('docs/rules/*.md', { cwd: root })
    .filter((file) => basename(file) !== 'README.md')
    .sort((a, b) => (a < b ? -1 : 1))
    .map((file) => {
      const document = basename(file, '.md').replace(/^pact-/, 'PACT ');
      return { document, file, anchors: anchorsOf(readFileSync(join(root, file), 'utf8')) };
    });
}

/** What can be cited on a page, read off its headings and the beginnings of its list items. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  let section = '';
  for (const line of text.split('\n')) {
    const heading = /^#{2,} (?:§(\d+) )?(.+)$/.exec(line);
    if (heading) {
      const [, number, title = ''] = heading;
      if (number !== undefined) section = number;
      anchors.add(`§${section}`).add(`: ${keyOf(title)}`);
      continue;
    }
    const [, number, name] = /^\s*- (?:\*\*([\d.]+)\*\*\s*)?(?:_(.+?)\.?_(?=[\s,:]|$))?/.exec(line) ?? [];
    if (number !== undefined) anchors.add(`§${number}`);
    if (name !== undefined) anchors.add(`§${section}: ${keyOf(name)}`).add(`: ${keyOf(name)}`);
  }
  return anchors;
}

/** A name as it is compared: letter case, code marks and line breaks do not count. */
export function keyOf(name: string): string {
  return name.replace(/[`_*]/g, '').replace(/\s+/g, ' ').trim().toLowerCase();
}
