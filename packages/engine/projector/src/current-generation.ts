import type { Generation } from '@stemma/row-store';
import { currentName, findName } from './generations.ts';
import type { Resolved } from './options.ts';

/** The rows of a group that this version's read models wrote. */
export type CurrentGeneration = {
  /** Undefined: the current rows are of another version, or there are none. */
  find(): Promise<Generation | undefined>;
  /** The current generation; the next one while rows of another version are still current. */
  get(): Promise<Generation>;
  /** The generation that was current when somebody last asked. */
  latest(): Generation | undefined;
  /** True, once, after a generation was current: if there is none now, another process has thrown it away. */
  wasFound(): boolean;
  open(name: string): Promise<Generation>;
  /** Opens generations anew. */
  forget(): void;
};

export const openCurrentGeneration = ({
  store,
  group,
  signature,
  tables,
}: Pick<Resolved, 'store' | 'group' | 'signature' | 'tables'>): CurrentGeneration => {
  const opened = new Map<string, Generation>();
  let wasFound = false;
  let latest: Generation | undefined;
  const open = async (name: string): Promise<Generation> => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const generation = await store.generation(name, tables);
    opened.set(name, generation);
    return generation;
  };
  const openCurrent = async (name: string): Promise<Generation> => {
    wasFound = true;
    return (latest = await open(name));
  };
  return {
    async find() {
      const known = await currentName(store, group, signature);
      return known === undefined ? undefined : openCurrent(known);
    },
    async get() {
      const { name, isCurrent } = await findName(store, group, signature);
      return isCurrent ? openCurrent(name) : open(name);
    },
    latest: () => latest,
    wasFound() {
      const was = wasFound;
      wasFound = false;
      return was;
    },
    open,
    forget: () => opened.clear(),
  };
};
