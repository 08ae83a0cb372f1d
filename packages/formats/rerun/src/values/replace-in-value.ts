import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { ReplacedPart, Replacements } from './bindings.ts';

/** Fields that a provider has signed or encrypted, and texts that its signature covers: they stay to the byte. */
const SEALED: ReadonlySet<string> = new Set(['signature', 'encrypted_content', 'thinking', 'data']);

/** Whether the value of a field stays as it is. @param type that of its object */
export const isSealed = (name: string, type: WideJson | undefined): boolean =>
  SEALED.has(name) && (name !== 'data' || type === 'redacted_thinking');

/** The text with its parts replaced. */
export const withParts = (text: string, parts: readonly ReplacedPart[]): string => {
  let replaced = '';
  let done = 0;
  for (const { start, end, now } of parts) {
    replaced += text.slice(done, start) + now;
    done = end;
  }
  return replaced + text.slice(done);
};

/** A value whose texts say the values of now, as `replaceInBody` changes its JSON. */
export const replaceInValue = <T extends WideJson>(value: T, replacements: Replacements): T => {
  if (replacements.isEmpty) return value;
  const replaced = (each: WideJson): WideJson => {
    if (typeof each === 'string') return withParts(each, replacements.partsOf(each));
    if (typeof each === 'number' || typeof each === 'bigint') return replacedNumber(each, replacements);
    if (Array.isArray(each)) return (each as readonly WideJson[]).map(replaced);
    if (!isJsonObject(each)) return each;
    return Object.fromEntries(
      Object.entries(each).map(([name, item]) => [
        withParts(name, replacements.partsOf(name)),
        isSealed(name, each['type']) ? item : replaced(item),
      ]),
    );
  };
  return replaced(value) as T;
};

/** A number that stands for another one, such as the seconds of a time. */
const replacedNumber = (number: number | bigint, { partsOf }: Replacements): number | bigint => {
  if (number < LEAST_EPOCH) return number;
  const text = String(number);
  const now = withParts(text, partsOf(text));
  return now === text || !/^\d+(?:\.\d+)?$/.test(now) ? number : typeof number === 'bigint' ? BigInt(now) : Number(now);
};

/** Smaller numbers are no times. */
const LEAST_EPOCH = 1_000_000_000;
