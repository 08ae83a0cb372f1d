import type { RangeOptions } from '@stemma/selectors';
import type { ContractAnswer } from '../answer.ts';

export const range: ContractAnswer<'range'> = async ({ home }, { history, selector, ...options }) =>
  home.read.range(await home.find(history), selector, rangeOptionsOf(options));

/** The options that were given. */
const rangeOptionsOf = (given: object): RangeOptions =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
