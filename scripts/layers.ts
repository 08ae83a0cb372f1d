import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The rooms of `packages/` from the lowest up. A package imports its own room and those below it; `services/` are last. */
export const rooms = [
  'foundation',
  'domain',
  'formats',
  'rows',
  'storage',
  'engine',
  'home',
  'agents',
  'testing',
] as const;

/** Packages of these rooms import only each other and touch no clock, network, file, randomness or locale. */
export const pureRooms: readonly (typeof rooms)[number][] = ['foundation', 'domain', 'formats', 'rows'];

/** The only libraries a pure package imports. */
export const pureLibraries = [
  'zod',
  'diff',
  'rfc6902',
  'umap-js',
  'gpt-tokenizer',
  'eventsource-parser',
  'csv-parse',
  'yaml',
  '@msgpack/msgpack',
  'hyparquet-writer',
];

/** All that the inspector imports of Stemma. */
export const inspectorPackages = ['api', 'selectors', 'context-tree', 'errors', 'values'];

const PACKAGES = join(import.meta.dirname, '../packages');

/** The folder of every package, as `packages/<room>/<name>`: by rooms from the lowest up, in a room by name. */
export const packageFolders: readonly string[] = rooms.flatMap((room) =>
  readdirSync(join(PACKAGES, room))
    .filter((name) => existsSync(join(PACKAGES, room, name, 'README.md')))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => `packages/${room}/${name}`),
);

/**
 * Where a package is.
 *
 * @returns for `log`: `packages/storage/log`
 * @throws if there is no such package
 */
export const folderOf = (name: string): string => {
  const folder = packageFolders.find((each) => each.endsWith(`/${name}`));
  if (folder === undefined) throw new Error(`There is no package ${name}`);
  return folder;
};
