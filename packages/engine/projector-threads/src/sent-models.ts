import { tablesOf, type FoldContext } from '@stemma/projector';
import { READ_MODELS, type ReadModel } from '@stemma/read-models';
import type { Table } from '@stemma/row-store';

/** Read models as a thread is told of them. */
export type SentModels = {
  /** Their names, of which these are folded on demand. */
  readonly models: readonly string[];
  readonly onDemand: readonly string[];
  readonly keepFrames: boolean;
};

/** What a thread is told of the read models that rows are folded with; undefined if it could not find one of them by its name. */
export const sendableModels = ({ models, onDemand, keepFrames }: FoldContext): SentModels | undefined => {
  const all = [...models, ...onDemand];
  if (!all.every((model) => READ_MODELS.includes(model))) return undefined;
  const namesOf = (some: readonly ReadModel[]): readonly string[] => some.map(({ name }) => name);
  return { models: namesOf(all), onDemand: namesOf(onDemand), keepFrames };
};

/** The read models that are meant, and their tables. */
export const receivedModels = ({
  models: names,
  onDemand: fewer,
  keepFrames,
}: SentModels): {
  readonly all: readonly ReadModel[];
  /** Those that are folded with every frame. */
  readonly models: readonly ReadModel[];
  readonly onDemand: readonly ReadModel[];
  readonly tables: readonly Table[];
} => {
  const named = (wanted: readonly string[]) => READ_MODELS.filter(({ name }) => wanted.includes(name));
  const [all, onDemand] = [named(names), named(fewer)];
  return {
    all,
    models: all.filter((model) => !onDemand.includes(model)),
    onDemand,
    tables: tablesOf(all, keepFrames, onDemand.length > 0),
  };
};
