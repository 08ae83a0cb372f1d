import type { EquivalentMutant } from './equivalent-mutant.ts';

export const HISTORY: readonly EquivalentMutant[] = [];
