import { READ_MODELS, type ReadModel } from '@stemma/read-models';

/** Read models that are folded together into one generation of rows, with the history store that frames are checked against. */
export type Group = {
  /** The name of its rows in the store. */
  readonly name: string;
  readonly models: readonly ReadModel[];
  /** Whether the frames' bytes stand among its rows. */
  readonly keepFrames: boolean;
};

/** The group whose rows answer all questions: every read model of the catalogue (decision 0090). */
export const MAIN_GROUP: Group = { name: 'all', models: READ_MODELS, keepFrames: true };

/** The group of a user's own read model: nobody's questions but its author's are answered from it. */
export const groupOf = (model: ReadModel): Group => ({
  name: model.name,
  models: [model],
  keepFrames: false,
});
