import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { VERSION } from './index.ts';

it('VERSION is the version in the package.json of the repository and of each package and service', () => {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const files = globSync(['package.json', 'packages/*/*/package.json', 'services/*/package.json'], {
    cwd: root,
  });
  expect(files.length).toBeGreaterThan(30);
  const others = files.filter(
    (file) => (JSON.parse(readFileSync(root + file, 'utf8')) as { version: string }).version !== VERSION,
  );
  expect(others).toEqual([]);
});
