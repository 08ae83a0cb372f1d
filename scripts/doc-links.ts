import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The pages that people read: everything written in Markdown outside of what is installed or built. */
export const pagesOf = (root: string): readonly string[] =>
  globSync(
    '{*.md,docs/**/*.md,{packages,packages/*,services,examples}/*/*.md,{samples,bench,infra}/**/*.md}',
    {
      cwd: root,
      exclude: (path) => /(^|\/)(node_modules|dist)(\/|$)/.test(path),
    },
  ).sort((a, b) => (a < b ? -1 : 1));

const withoutCode = (page: string): string =>
  page.replaceAll(/^( *)```.*?^\1```$/gms, '').replaceAll(/`[^`\n]*`/g, '');

/** The names that links of the kind `#name` can end with: one for each heading, as GitHub makes them. */
const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    [...page.replaceAll(/^( *)```.*?^\1```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

/** Every relative link, of the pages of a checkout, whose file or heading is not there: `page: link`. */
export const brokenLinks = (root: string, pages = pagesOf(root)): readonly string[] =>
  pages.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    return links.filter((link) => !isThere(root, file, link)).map((link) => `${file}: ${link}`);
  });

const isThere = (root: string, file: string, link: string): boolean => {
  if (/^[a-z]+:/.test(link)) return true;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(root, file) : join(root, dirname(file), path);
  if (relative(root, target).startsWith('..') || !existsSync(target)) return false;
  return (
    anchor === undefined || !target.endsWith('.md') || anchorsOf(readFileSync(target, 'utf8')).has(anchor)
  );
};
