import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const folders = globSync(['{packages/*,services,examples}/*/package.json', 'bench/package.json'], {
  cwd: root,
})
  .map((file) => join(file, '..'))
  .sort((a, b) => (a < b ? -1 : 1));
const readmeOf = (folder: string): string => {
  const file = join(root, folder, 'README.md');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

test('every package, service and example is found', () => {
  expect(folders).toEqual(expect.arrayContaining(['bench', 'packages/storage/log', 'services/cli']));
});

test.each(folders)('%s has a README of at most 30 lines with one example', (folder) => {
  const text = readmeOf(folder);
  expect(text).toMatch(/^# \S/);
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  expect(text.match(/^```\w*$/gm)).toHaveLength(2);
});

test.each(folders)('every link in the README of %s names an existing file', (folder) => {
  const links = [...readmeOf(folder).matchAll(/\]\((?!\w+:)([^)#]+)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(root, folder, link)))).toEqual([]);
});
