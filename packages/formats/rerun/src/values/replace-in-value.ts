import { isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';
import type { ReplacedPart, Replacements } from './bindings.ts';
import { isSealedField, isSealedType, replacedNumber } from './json-literals.ts';

/** A value whose texts say the values of now, as `replaceInBody` changes its JSON. */
export const replaceInValue = <T extends WideJson>(value: T, replacements: Replacements): T => {
  if (replacements.isEmpty) return value;
  const replaced = (each: WideJson): WideJson => {
    if (typeof each === 'string') return withParts(each, replacements.partsOf(each));
    if (typeof each === 'number' || typeof each === 'bigint') {
      const text = String(each);
      const now = replacedNumber(text, replacements);
      return now === text ? each : parseWideJson(now);
    }
    if (Array.isArray(each)) return (each as readonly WideJson[]).map(replaced);
    if (!isJsonObject(each) || isSealedType(each['type'])) return each;
    return Object.fromEntries(
      Object.entries(each).map(([name, item]) => [
        withParts(name, replacements.partsOf(name)),
        isSealedField(name) ? item : replaced(item),
      ]),
    );
  };
  return replaced(value) as T;
};

/** The text with its parts replaced. */
const withParts = (text: string, parts: readonly ReplacedPart[]): string => {
  let replaced = '';
  let done = 0;
  for (const { start, end, now } of parts) {
    replaced += text.slice(done, start) + now;
    done = end;
  }
  return replaced + text.slice(done);
};
