import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderOf, inspectorPackages, packageFolders, rooms } from './layers.ts';

const root = join(import.meta.dirname, '..');
/** Those of the workspace; packages of other languages have no package.json. */
const folders = packageFolders.filter((folder) => existsSync(join(root, folder, 'package.json')));
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, unknown>;
const nameOf = (folder: string): string => folder.slice(folder.lastIndexOf('/') + 1);
const roomOf = (folder: string): number => rooms.findIndex((room) => folder.startsWith(`packages/${room}/`));
const importedBy = (folder: string): readonly string[] =>
  Object.keys(read(`${folder}/package.json`).dependencies ?? {})
    .filter((name) => name.startsWith('@stemma/'))
    .map((name) => folderOf(name.slice('@stemma/'.length)));

/** What a folder holds beside its README; what an installation left where a package was before is nothing. */
const foldersIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name !== 'README.md' && name !== 'node_modules')
    .map((name) => `${folder}/${name}`)
    .filter((path) => readdirSync(join(root, path)).some((name) => name !== 'node_modules'));

describe('the rooms', () => {
  it('are all that packages/ has, and everything in them is a package', () => {
    expect(new Set(foldersIn('packages'))).toEqual(new Set(rooms.map((room) => `packages/${room}`)));
    const inside = rooms.flatMap((room) => foldersIn(`packages/${room}`));
    expect(new Set(inside)).toEqual(new Set(packageFolders));
    expect(inspectorPackages.map(folderOf)).toHaveLength(inspectorPackages.length);
  });

  it.each(rooms)('%s has a README of one screen', (room) => {
    const text = readFileSync(join(root, 'packages', room, 'README.md'), 'utf8');

    expect(text).toMatch(/^# \S/);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    for (const heading of ['What lives here', 'What it imports', 'What it never touches'])
      expect(text).toContain(`## ${heading}\n`);
  });
});

describe('the packages', () => {
  it.each(folders)('%s depends on no package of a higher room', (folder) => {
    expect(importedBy(folder).filter((other) => roomOf(other) > roomOf(folder))).toEqual([]);
  });

  it('have an order in which each depends only on those before it', () => {
    const open = new Set<string>();
    const done = new Set<string>();
    const visit = (folder: string): void => {
      if (done.has(folder)) return;
      if (open.has(folder)) throw new Error(`${[...open].join(' imports ')} imports ${folder}`);
      open.add(folder);
      importedBy(folder).forEach(visit);
      open.delete(folder);
      done.add(folder);
    };
    folders.forEach(visit);

    expect(done).toEqual(new Set(folders));
  });

  it.each(folders)(
    '%s is entered by its index, a port also by its contract, model-apis by its providers, the test kit by its home, the recorder by what tests run',
    (folder) => {
      const { name, type, license, exports } = read(`${folder}/package.json`);
      const doors: Readonly<Record<string, string>> = {
        ...(['log', 'row-store', 'contents'].includes(nameOf(folder)) && {
          './contract': './src/contract.ts',
        }),
        ...(nameOf(folder) === 'model-apis' && { './providers': './src/providers.ts' }),
        ...(nameOf(folder) === 'recorder' && { './rerun': './src/rerun.ts' }),
        ...(nameOf(folder) === 'test-kit' && { './home': './src/home/index.ts' }),
      };

      expect({ name, type, license, exports }).toEqual({
        name: `@stemma/${nameOf(folder)}`,
        type: 'module',
        license: 'Apache-2.0',
        exports: { '.': './src/index.ts', ...doors },
      });
    },
  );
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
