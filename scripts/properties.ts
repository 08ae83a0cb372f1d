import { configureGlobal } from 'fast-check';

/*
 * A gate decides on the change in front of it, so in CI every property tries the same cases each time; elsewhere chance
 * explores. `STEMMA_SEED` fixes the cases anywhere: the seed that a failure printed, or another one for CI.
 */
const seed = process.env['STEMMA_SEED'] ?? (process.env['CI'] ? '20260101' : undefined);
if (seed !== undefined) {
  if (!/^-?\d{1,10}$/.test(seed)) throw new Error(`STEMMA_SEED is a whole number, not «${seed}»`);
  configureGlobal({ seed: Number(seed) });
}
