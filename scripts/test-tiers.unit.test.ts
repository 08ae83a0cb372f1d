import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TIERS } from './test-tiers.ts';

const root = join(import.meta.dirname, '..');

it('every test file names its tier, so that no run passes over it', () => {
  const files = globSync('{packages,services,examples,bench,scripts}/**/*.test.{ts,tsx}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**'],
  });
  expect(files.filter((file) => !TIERS.some((tier) => file.includes(`.${tier}.test.`)))).toEqual([]);
  expect(files.length).toBeGreaterThan(150);
});
