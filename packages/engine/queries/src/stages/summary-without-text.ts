import { sha256Hex } from '@stemma/canonical';
import { isExactList, isExactObject, type ExactJson } from '@stemma/stages';

const HASH = /^[0-9a-f]{40}$|^[0-9a-f]{64}$/;

/**
 * A prompt summary without text: hashes and counts as they are, every other text as its SHA-256 and its
 * length (compiler-stages: prompt_summary).
 */
export const withoutText = (value: ExactJson): ExactJson => {
  if (typeof value === 'string')
    return HASH.test(value) ? value : { length: Array.from(value).length, sha256: sha256Hex(value) };
  if (isExactList(value)) return value.map(withoutText);
  if (!isExactObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutText(item)]));
};
