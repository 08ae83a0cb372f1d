import type { ReadModel } from '../read-model.ts';
import { openSizesFold } from './fold.ts';
import { SIZES_TABLES } from './tables.ts';
import { openTokenCounts } from './token-counts.ts';

/** Contents whose tokens are kept: those of a turn are asked for again when it is sealed. */
const COUNTED = 10_000;

/** What calls were shown, in messages and tokens. Raise the version with the tokenizer. */
export const sizes: ReadModel = {
  name: 'sizes',
  version: 1,
  onDemand: true,
  tables: SIZES_TABLES,
  fold: openSizesFold(openTokenCounts(COUNTED)),
};
