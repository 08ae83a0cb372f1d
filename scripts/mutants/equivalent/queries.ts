import type { EquivalentMutant } from './equivalent-mutant.ts';

export const QUERIES: readonly EquivalentMutant[] = [];
