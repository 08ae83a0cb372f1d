import { READ_MODELS, type ReadModel } from '@stemma/read-models';

/** A read model, and the history store that its projectors fold with it to check frames against the tree. */
export type Group = {
  /** The name of its rows in the store: that of the read model. */
  readonly name: string;
  readonly model: ReadModel;
  /**
   * True for the group whose history store is read, and that keeps the frames' bytes among its rows; the other groups
   * have a history store of their own.
   */
  readonly primary: boolean;
};

/** The groups whose rows answer all questions, the primary one first. */
export const GROUPS: readonly Group[] = READ_MODELS.map((model, i) => ({
  name: model.name,
  model,
  primary: i === 0,
}));

/** The group of a user's own read model. */
export const groupOf = (model: ReadModel): Group => ({ name: model.name, model, primary: false });
