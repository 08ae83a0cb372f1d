import type { ReadModel } from '../read-model.ts';
import { foldSizes } from './fold.ts';
import { SIZES_TABLES } from './tables.ts';

/** What calls were shown, in messages, bytes and tokens, and what they decided. Raise the version with the tokenizer. */
export const sizes: ReadModel = {
  name: 'sizes',
  version: 3,
  onDemand: true,
  tables: SIZES_TABLES,
  fold: foldSizes,
};
