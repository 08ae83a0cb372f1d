import type { ForeignReader } from './reader.ts';

/** Every format of other programs, in the order in which they are asked. */
export const FOREIGN: readonly ForeignReader[] = [];
