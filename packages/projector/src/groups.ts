import { READ_MODELS, type ReadModel } from '@stemma/read-models';

/** Read models that are folded together, by the projectors of one group. */
export type Group = {
  /** What its rows are found under. */
  readonly name: string;
  readonly models: readonly ReadModel[];
  /** Whether the frames' bytes stand among its rows. */
  readonly keepFrames: boolean;
};

/** What every group folds: a frame is checked against the tree that it changes. */
const TREE = READ_MODELS.filter(({ name }) => name === 'snapshots');

/** The group whose rows of trees, heads and frames are read; the others have them for themselves. */
const FIRST = 'lineage';

/** The group of projectors that run one read model: the catalogue's, or a user's own. */
export const groupOf = (model: ReadModel): Group => ({
  name: model.name,
  models: [...TREE.filter(({ name }) => name !== model.name), model],
  keepFrames: model.name === FIRST,
});

/** The groups whose rows answer everything that is asked, the first one first. */
export const GROUPS: readonly Group[] = READ_MODELS.filter((model) => !TREE.includes(model))
  .map(groupOf)
  .toSorted((a, b) => Number(b.name === FIRST) - Number(a.name === FIRST));
