import { fail } from '@stemma/errors';
import { HISTORY_STORE } from '@stemma/history-store';
import { groupOf, GROUPS, type Group } from '@stemma/projector';
import type { ReadModel } from '@stemma/read-models';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The group that a projector runs: one of the catalogue by its name, or a read model of a user's own, the default export
 * of a module that is named by its path (`./tokens.ts`).
 *
 * @throws E_USAGE
 */
export const loadGroup = async (nameOrPath: string): Promise<Group> => {
  const known = GROUPS.find(({ name }) => name === nameOrPath);
  if (known !== undefined) return known;
  if (!/[./\\]/.test(nameOrPath))
    throw fail(
      'E_USAGE',
      `there is no read model ${JSON.stringify(nameOrPath.slice(0, 100))}: ${GROUPS.map(({ name }) => name).join(', ')}, or the path of a module`,
    );
  const model = await importDefault(resolve(nameOrPath));
  if (!isReadModel(model))
    throw fail(
      'E_USAGE',
      `${nameOrPath} has no read model as its default export: { name, version, tables, fold }`,
    );
  if (GROUPS.some(({ name }) => name === model.name) || model.name === HISTORY_STORE.name)
    throw fail('E_USAGE', `a read model of Stemma is called ${model.name}: give yours another name`);
  return groupOf(model);
};

const importDefault = async (path: string): Promise<unknown> => {
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
    return module.default;
  } catch (error) {
    throw fail(
      'E_USAGE',
      `${path} cannot be loaded: ${error instanceof Error ? error.message : 'no module'}`,
    );
  }
};

const isReadModel = (value: unknown): value is ReadModel => {
  if (typeof value !== 'object' || value === null) return false;
  const { name, version, tables, fold } = value as Partial<Record<keyof ReadModel, unknown>>;
  return (
    typeof name === 'string' &&
    /^[a-z][a-z0-9-]{0,40}$/.test(name) &&
    Number.isSafeInteger(version) &&
    Array.isArray(tables) &&
    typeof fold === 'function'
  );
};
