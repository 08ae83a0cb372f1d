import { whole } from '../options.ts';

/** So many random divisions a test makes, if nobody says otherwise. */
export const PERMUTATIONS = 1_999;

/** How a test makes its random divisions. @throws E_USAGE */
export const chanceIn = (
  options: Readonly<Record<string, unknown>>,
): { readonly permutations: number; readonly seed: number } => ({
  permutations: whole(options, 'permutations', { least: 1, most: 1_000_000 }) ?? PERMUTATIONS,
  seed: whole(options, 'seed', { least: 0 }) ?? 0,
});
