import { fail } from '@stemma/errors';
import { HISTORY_STORE } from '@stemma/history-store';
import { groupOf, MAIN_GROUP, type Group } from '@stemma/projector';
import type { ReadModel } from '@stemma/read-models';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const TAKEN = [MAIN_GROUP.name, HISTORY_STORE.name, ...MAIN_GROUP.models.map(({ name }) => name)];

/**
 * The group that a projector folds: that of all read models of Stemma, or a read model of a user's own, the default export
 * of a module that is named by its path (`./tokens.ts`).
 *
 * @param path undefined: all read models of Stemma
 * @throws E_USAGE
 */
export const loadGroup = async (path: string | undefined): Promise<Group> => {
  if (path === undefined) return MAIN_GROUP;
  if (!/[./\\]/.test(path))
    throw fail(
      'E_USAGE',
      `--read-model is the path of a module, such as ./tokens.ts, not ${JSON.stringify(path.slice(0, 100))}; without it a projector folds all read models of Stemma`,
    );
  const model = await importDefault(resolve(path));
  if (!isReadModel(model))
    throw fail('E_USAGE', `${path} has no read model as its default export: { name, version, tables, fold }`);
  if (TAKEN.includes(model.name))
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
