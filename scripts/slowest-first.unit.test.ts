import { join } from 'node:path';
import { expect, it } from 'vitest';
import { foundFiles } from './found-files.ts';
import { SLOWEST } from './slowest-first.ts';

it('each entry of the slowest files names exactly one test file of this repository', () => {
  const root = join(import.meta.dirname, '..');
  const files = foundFiles(root, ['packages/*/*/test/**/*.test.ts', 'services/*/test/**/*.test.ts']);
  for (const end of SLOWEST)
    expect(
      files.filter((file) => file.endsWith(`${end}.test.ts`)),
      end,
    ).toHaveLength(1);
});
