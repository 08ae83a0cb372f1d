import type { EquivalentMutant } from './equivalent-mutant.ts';

export const PROJECTOR: readonly EquivalentMutant[] = [];
