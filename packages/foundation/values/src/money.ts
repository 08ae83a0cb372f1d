import { fail } from '@stemma/errors';

/** Digits behind the point that amounts may have: as many as prices of tokens. */
const DIGITS = 21;

/**
 * An amount in whole units of 10^-21, so that sums are exact.
 *
 * @throws E_USAGE if it is no decimal number
 */
export const unitsOf = (amount: string): bigint => {
  const [, whole = '', fraction = ''] = /^(\d{1,18})(?:\.(\d{1,21}))?$/.exec(amount) ?? [];
  if (whole === '')
    throw fail('E_USAGE', `${JSON.stringify(amount.slice(0, 100))} is no amount, such as 0.50`);
  return BigInt(whole + fraction.padEnd(DIGITS, '0'));
};

/** The amount of so many units, without zeros at its end. */
export const amountOf = (units: bigint): string => {
  const digits = units.toString().padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '');
  return digits.slice(0, -DIGITS) + (fraction === '' ? '' : `.${fraction}`);
};
