/**
 * The size of a test: `large` in CI (where `CI` is set), else `small`, which must show the same. Use it for rounds of kills,
 * lengths of logs and cases of a simulation, never for the figures of a rule.
 */
export const sized = (small: number, large: number): number => (process.env['CI'] ? large : small);
