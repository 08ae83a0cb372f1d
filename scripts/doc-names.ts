import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foundFiles } from './found-files.ts';

/** The pages that say which code does what. */
export const PAGES: readonly string[] = [
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'packages/*/README.md',
  '{packages/*,services}/*/README.md',
];

const SOURCES: readonly string[] = [
  '{packages/*,services,examples}/*/{src,test,tests}/**/*.{ts,tsx,mjs,py}',
  'bench/src/**/*.ts',
  'scripts/**/*.{ts,mjs}',
  'eslint.config.ts',
  'vitest.config.ts',
];

/** A name that only code has: `readPartition`, `EVENT_FACTS`, `E_IO`, `home.ask`, `openHome()`; no word, path or option. */
const NAME = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*(\(.*\))?$/;
const OF_CODE = /[a-z][A-Z]|^[A-Z]+(_[A-Z]+)+$|\(/;

const withoutCodeBlocks = (page: string): string => page.replaceAll(/^( *)```.*?^\1```$/gms, '');

/** The names of code that a page has in backticks, outside of examples. */
export const namesIn = (page: string): readonly string[] =>
  [...withoutCodeBlocks(page).matchAll(/`([^`\n]+)`/g)].flatMap(([, span = '']) =>
    NAME.test(span) && OF_CODE.test(span)
      ? span
          .replace(/\(.*$/, '')
          .split('.')
          .filter((name) => OF_CODE.test(name) || span.includes('('))
      : [],
  );

/** The names of pages that no source has: `page: name`. @throws if a pattern names no file */
export const unknownNames = (root: string, pages = PAGES, sources = SOURCES): readonly string[] => {
  const files = foundFiles(root, pages);
  const known = new Set(
    foundFiles(root, sources).flatMap((file) => [
      ...new Set(readFileSync(join(root, file), 'utf8').match(/[A-Za-z_$][\w$]*/g)),
    ]),
  );
  return files.flatMap((file) =>
    namesIn(readFileSync(join(root, file), 'utf8'))
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${name}`),
  );
};
