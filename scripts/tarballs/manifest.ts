import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

type Manifest = { readonly version: string; readonly license: string };

const read = (path: string): Manifest => JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;

/** The oldest Node.js that the packages run on: the first 22 with zstd. */
const ENGINES = { node: '>=22.15' } as const;

const { version, license } = read('package.json');

/** The versions of libraries that a package of the workspace is tested with. */
export const installed = (folder: string, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.map((name) => [name, read(join(folder, 'node_modules', name, 'package.json')).version]),
  );

/** A package.json, with what those of all packages say alike. */
export const manifestOf = (name: string, rest: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ name, version, license, type: 'module', engines: ENGINES, ...rest }, null, 2)}\n`;
