import { fail } from '@stemma/errors';
import {
  isExactObject,
  isFloat,
  isInteger,
  NumberText,
  type ExactJson,
  type ExactObject,
} from './exact-json.ts';
import { exactNumber, truncate } from './exact-numbers.ts';
import { printPlain } from './print-exact.ts';
import type { Profile } from './profile.ts';
import { isTruthy, strip } from './python-text.ts';

/** A whole number from 0, kept exactly however long it is. */
export type Whole = number | NumberText;

/** The number as a count; a number longer than a safe integer exceeds every count. */
export const countOf = (whole: Whole): number =>
  typeof whole === 'number' ? whole : Number.POSITIVE_INFINITY;

/**
 * A whole number; null if it is missing or negative. In the engine's profile, any value that Python's `int` accepts.
 */
export const wholeNumber = (
  profile: Profile,
  name: string,
  value: ExactJson,
  { missing = null, negative = null }: { missing?: Whole | null; negative?: Whole | null } = {},
): Whole | null => {
  if (value === null) return missing;
  const whole = profile.compat ? pythonInt(value) : value;
  if (!isInteger(whole)) {
    if (profile.compat) return missing;
    throw wrongSetting(name, 'a whole number', value);
  }
  const exact = typeof whole === 'bigint' ? new NumberText(whole.toString(), false) : whole;
  if (typeof exact === 'number') return exact < 0 ? negative : exact;
  return exact.text.startsWith('-') ? negative : exact;
};

/** Python's `int(v)`, or null where it would refuse. */
const pythonInt = (value: ExactJson): ExactJson => {
  if (isInteger(value)) return value;
  if (isFloat(value)) return truncate(value);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return null;
  const digits = /^([+-]?)0*(\d+(?:_\d+)*)$/.exec(strip(value).replace(/^([+-]?)(?:0_)+/, '$1'));
  if (digits === null) return null;
  const whole = (digits[2] ?? '').replaceAll('_', '').replace(/^0+(?=\d)/, '');
  return exactNumber((digits[1] === '-' ? '-' : '') + whole, 'the setting');
};

/** A switch; in the engine's profile, any value that Python considers true. */
export const flag = ({ compat }: Profile, name: string, value: ExactJson, missing: boolean): boolean => {
  if (value === null) return missing;
  if (typeof value === 'boolean') return value;
  if (compat) return isTruthy(value);
  throw wrongSetting(name, 'true or false', value);
};

/**
 * A word, trimmed and in lower case; null if missing. In the engine's profile also null for a value that is not a text.
 */
export const keywordOf = ({ compat }: Profile, name: string, value: ExactJson): string | null => {
  if (typeof value === 'string') return strip(value).toLowerCase();
  if (value === null || compat) return null;
  throw wrongSetting(name, 'a text', value);
};

/** @throws E_STAGES_CONFIG if a section has a setting of another name. */
export const refuseOthers = (name: string, settings: ExactObject, keys: readonly string[]): void => {
  const other = Object.keys(settings).find((key) => !keys.includes(key));
  if (other !== undefined)
    throw fail(
      'E_STAGES_CONFIG',
      `${name} has no setting ${JSON.stringify(other.slice(0, 80))}: ${keys.join(', ')}`,
    );
};

export const wrongSetting = (name: string, wanted: string, value: ExactJson): Error => {
  const shown = isExactObject(value) ? 'an object' : printPlain(value).slice(0, 80);
  return fail('E_STAGES_CONFIG', `${name} is ${wanted}, not ${shown}`, { setting: name });
};
