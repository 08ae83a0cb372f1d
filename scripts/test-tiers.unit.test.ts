import { join } from 'node:path';
import { expect, it } from 'vitest';
import { foundFiles } from './found-files.ts';
import { longFiles } from './long-files.ts';
import { SLOWEST } from './slowest-first.ts';
import { isOfLongStage, TIERS } from './test-tiers.ts';

const root = join(import.meta.dirname, '..');
const files = foundFiles(
  root,
  ['packages/*/*', 'services/*', 'examples/*', 'bench', 'scripts'].map(
    (folder) => `${folder}/**/*.test.{ts,tsx}`,
  ),
);

it('every test file has its tier in its name, so that a run includes it', () => {
  expect(files.filter((file) => !TIERS.some((tier) => file.includes(`.${tier}.test.`)))).toEqual([]);
  expect(files.length).toBeGreaterThan(150);
});

it('every file that is to be run first exists', () => {
  expect(SLOWEST.filter((end) => !files.some((file) => file.includes(`${end}.test.`)))).toEqual([]);
});

it('the long stage has every file that is left to it, and every file that does more in a long run, itself or by a helper', () => {
  const long = longFiles();
  expect(files.filter((file) => isOfLongStage(file) && !long.includes(file))).toEqual([]);
  expect(long).toContain('packages/domain/selectors/test/laws.unit.test.ts');
  expect(long).toContain('services/cli/test/real-transcripts.long.int.test.ts');
  expect(long).not.toContain('scripts/test-tiers.unit.test.ts');
});
