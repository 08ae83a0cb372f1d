import { READ_MODELS, type ReadModel } from '@stemma/read-models';

/** A read model, and the history store that its projectors fold with it: a frame is checked against the tree that it changes. */
export type Group = {
  /** What its rows are found under: the read model's name. */
  readonly name: string;
  readonly model: ReadModel;
  /**
   * The group whose history store is read, and that keeps the frames' bytes among its rows; the other groups have a
   * history store for themselves.
   */
  readonly primary: boolean;
};

/** The groups whose rows answer everything that is asked, the primary one first. */
export const GROUPS: readonly Group[] = READ_MODELS.map((model, i) => ({
  name: model.name,
  model,
  primary: i === 0,
}));

/** The group of projectors that run a user's own read model. */
export const groupOf = (model: ReadModel): Group => ({ name: model.name, model, primary: false });
