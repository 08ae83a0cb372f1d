import type { EquivalentMutant } from './equivalent-mutant.ts';

export const HISTORY_STORE: readonly EquivalentMutant[] = [];
