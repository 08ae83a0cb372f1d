import { READ_MODELS, type ReadModel } from '@stemma/read-models';
import type { Table } from '@stemma/row-store';
import { tablesOf } from './generations.ts';

/** Read models as a thread is told of them. */
export type SentModels = {
  /** Their names, of which these are folded on demand. */
  readonly models: readonly string[];
  readonly onDemand: readonly string[];
  readonly keepFrames: boolean;
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
