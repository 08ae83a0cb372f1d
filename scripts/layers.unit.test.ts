import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectorPackages, layers, purePackages } from './layers.ts';

const root = join(import.meta.dirname, '..');
/** Those of the workspace; packages of other languages have no package.json. */
const folders = readdirSync(join(root, 'packages')).filter((folder) =>
  existsSync(join(root, 'packages', folder, 'package.json')),
);
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, unknown>;

describe('the layers', () => {
  it('name every package, and only packages', () => {
    expect(new Set(layers)).toEqual(new Set(folders));
    expect(layers).toEqual(expect.arrayContaining([...purePackages, ...inspectorPackages]));
  });

  it.each(folders)('%s depends only on packages to its left in the table of layers', (folder) => {
    const { dependencies = {} } = read(`packages/${folder}/package.json`) as { dependencies?: object };
    const own = Object.keys(dependencies).filter((name) => name.startsWith('@stemma/'));
    const left = layers.slice(0, layers.indexOf(folder)).map((name) => `@stemma/${name}`);

    expect(own.filter((name) => !left.includes(name))).toEqual([]);
  });

  it.each(folders)('%s is imported only by its index, and a port also by its contract', (folder) => {
    const { name, type, license, exports } = read(`packages/${folder}/package.json`);
    const port = ['log', 'row-store', 'contents'].includes(folder);

    expect({ name, type, license, exports }).toEqual({
      name: `@stemma/${folder}`,
      type: 'module',
      license: 'Apache-2.0',
      exports: { '.': './src/index.ts', ...(port ? { './contract': './src/contract.ts' } : {}) },
    });
  });
});

describe('the workspace', () => {
  it('installs and runs on one version of Node.js', () => {
    const workspace = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
    const pinned = /^ {2}node: (\S+)$/m.exec(workspace)?.[1];

    expect(/^nodeVersion: (\S+)$/m.exec(workspace)?.[1]).toBe(pinned);
    expect(process.versions.node).toBe(pinned);
  });

  it('has no download address in its lock file', () => {
    expect(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')).not.toMatch(/https?:|tarball:/);
  });

  it('names the pinned version of pnpm wherever it is written', () => {
    const { packageManager } = read('package.json');

    expect(readFileSync(join(root, 'stemma'), 'utf8')).toContain(`npx -y ${String(packageManager)} install`);
  });
});
