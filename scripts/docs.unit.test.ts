import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { brokenLinks, pagesOf } from './doc-links.ts';
import { packageFolders } from './layers.ts';

const ROOT = join(import.meta.dirname, '..');
const architecture = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

test('every relative link of every page names an existing file, and an existing heading if it names one', () => {
  expect(brokenLinks(ROOT)).toEqual([]);
  expect(pagesOf(ROOT)).toEqual(
    expect.arrayContaining(['README.md', 'docs/tutorial.md', 'docs/formats/rows.md']),
  );
});

test('a link to a missing file or heading is reported', () => {
  const root = mkdtempSync(join(tmpdir(), 'stemma-links-'));
  try {
    mkdirSync(join(root, 'docs'));
    writeFileSync(
      join(root, 'README.md'),
      '[a](docs/a.md) [b](docs/b.md) `[c](c.md)` [web](https://example.org)\n',
    );
    writeFileSync(
      join(root, 'docs/a.md'),
      '# A word, two\n[up](../README.md) [own](#a-word-two) [wrong](#b)\n```\n[code](x.md)\n```\n[out](../../x.md)\n',
    );
    expect(brokenLinks(root)).toEqual(['README.md: docs/b.md', 'docs/a.md: #b', 'docs/a.md: ../../x.md']);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test('the table of packages lists every package and service once, the packages room by room', () => {
  const listed = [...architecture.matchAll(/^\| `((?:packages\/[a-z]+|services)\/[a-z-]+)` +\|/gm)].map(
    ([, folder]) => folder,
  );
  const services = readdirSync(join(ROOT, 'services'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `services/${name}`);
  expect(listed.filter((folder) => folder?.startsWith('packages/'))).toEqual(packageFolders);
  const listedServices = listed.filter((folder) => folder?.startsWith('services/'));
  expect(new Set(listedServices)).toEqual(new Set(services));
  expect(listedServices).toHaveLength(services.length);
});

test('every file that the page on the architecture names exists', () => {
  const named = [...architecture.matchAll(/`((?:packages|services|scripts)\/[\w./-]+\.tsx?)`/g)].map(
    ([, file]) => file,
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((file) => !existsSync(join(ROOT, file ?? '')))).toEqual([]);
});
