/** What of an answer grows with a history, and so what its exponent may be. */
export type Growth = 'page' | 'whole';

/** Something that is measured: a page, or all of a history. */
export type Measured<T> = { readonly growth: Growth; readonly ask: (calls: number) => T };

/** Something that is not, with the reason. */
export type Unmeasured = { readonly reason: string };

export type Asked<T> = Measured<T> | Unmeasured;

export const isMeasured = <T>(asked: Asked<T>): asked is Measured<T> => 'ask' in asked;
