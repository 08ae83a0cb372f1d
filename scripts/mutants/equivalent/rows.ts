import type { EquivalentMutant } from './equivalent-mutant.ts';

export const ROWS: readonly EquivalentMutant[] = [];
