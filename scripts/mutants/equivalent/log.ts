import type { EquivalentMutant } from './equivalent-mutant.ts';

export const LOG: readonly EquivalentMutant[] = [];
