import type { ReadModel } from '../read-model.ts';
import { openSizesFold } from './fold.ts';
import { SIZES_TABLES } from './tables.ts';
import { openContentSizes } from './content-sizes.ts';

/** Contents whose sizes are kept: those of a turn are asked for again when it is sealed. */
const COUNTED = 10_000;

/** What calls were shown, in messages, bytes and tokens. Raise the version with the tokenizer. */
export const sizes: ReadModel = {
  name: 'sizes',
  version: 2,
  onDemand: true,
  tables: SIZES_TABLES,
  fold: openSizesFold(openContentSizes(COUNTED)),
};
