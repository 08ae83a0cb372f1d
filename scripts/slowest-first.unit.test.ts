import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SLOWEST } from './slowest-first.ts';

it('each entry of the slowest files names exactly one test file of this repository', () => {
  const root = join(import.meta.dirname, '..');
  const files = globSync('{packages,services}/*/test/**/*.test.ts', { cwd: root });
  for (const end of SLOWEST)
    expect(
      files.filter((file) => file.endsWith(`${end}.test.ts`)),
      end,
    ).toHaveLength(1);
});
