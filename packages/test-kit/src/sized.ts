/**
 * How much a test does: in CI (`CI` is set) the large size, elsewhere the small one, which tells the same. Rounds of
 * kills, lengths of logs, cases of a simulation; never what a law says.
 */
export const sized = (small: number, large: number): number => (process.env['CI'] ? large : small);
