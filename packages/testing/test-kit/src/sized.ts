/** Whether this is a long run: `STEMMA_LONG=1`, as the second stage of CI sets it. */
export const isLong = process.env['STEMMA_LONG'] === '1';

/**
 * The size of a test: `large` in a long run, else `small`, which must show the same. Use it for rounds of kills, lengths of logs and
 * cases of a simulation, never for the figures of a rule.
 */
export const sized = (small: number, large: number): number => (isLong ? large : small);

/** Why a test is skipped that takes minutes or comes from far; undefined in a long run, in which it is not. */
export const onlyLong = (why: string): string | undefined => (isLong ? undefined : `${why}: STEMMA_LONG=1`);
