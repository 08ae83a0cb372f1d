import { isJsonObject, type WideJson } from '@stemma/canonical';
import { textDifferences } from '@stemma/model-apis';
import { placeOf } from '../read-call.ts';
import { maskMatcher } from './mask-pattern.ts';
import type { Mask } from './masks.ts';
import { openTokenizer, type TextLocation, type Tokenizer } from './tokens.ts';

/** A call that came in a rerun, under the label of the recorded one that it stood for. */
export type ObservedCall = {
  readonly label: string;
  readonly messages: readonly { readonly role: string; readonly message: WideJson }[];
};

/** A mask that two reruns suggest, and where they differ. */
export type ProposedMask = {
  readonly mask: Mask;
  readonly label: string;
  /** The number of the message, from 0. */
  readonly message: number;
  readonly first: string;
  readonly second: string;
};

/** So much of the text around a value says where it stands. */
const MOST_AROUND = 24;
const LONGEST_VALUE = 64;

/**
 * Masks for what differs between two reruns of one program, message by message, and is no value that is bound anyway. Each holds
 * for messages of that role, and takes a value between the texts that stand around it.
 *
 * @param known the masks that both runs had
 * @throws E_INPUT_SHAPE for one of them that cannot be used
 */
export const proposeMasks = (
  first: readonly ObservedCall[],
  second: readonly ObservedCall[],
  known: readonly Mask[] = [],
): readonly ProposedMask[] => {
  const tokenize = openTokenizer([], known.map(maskMatcher));
  const others = new Map(second.map((call) => [call.label, call]));
  const proposed = new Map<string, ProposedMask>();
  for (const { label, messages } of first)
    for (const [number, { role, message }] of messages.entries()) {
      const other = others.get(label)?.messages[number];
      if (other?.role !== role) continue;
      const place = placeOf(role);
      for (const [a, b] of textPairs(message, other.message))
        for (const { pattern, from, to } of patternsFor(a, b, place, tokenize)) {
          const key = `${place} ${pattern}`;
          if (proposed.has(key)) continue;
          const mask = { name: `${place}-${proposed.size + 1}`, pattern, in: place } as const;
          proposed.set(key, { mask, label, message: number, first: from, second: to });
        }
    }
  return [...proposed.values()];
};

/** Texts that stand at the same path of two values of the same shape. */
const textPairs = (a: WideJson, b: WideJson): readonly (readonly [string, string])[] => {
  if (typeof a === 'string' && typeof b === 'string') return a === b ? [] : [[a, b]];
  if (Array.isArray(a) && Array.isArray(b)) {
    const [one, other] = [a as readonly WideJson[], b as readonly WideJson[]];
    return one.length === other.length ? one.flatMap((item, i) => textPairs(item, other[i] as WideJson)) : [];
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return [];
  return Object.entries(a).flatMap(([name, item]) => {
    const other = b[name];
    return other === undefined ? [] : textPairs(item, other);
  });
};

type FoundPattern = { readonly pattern: string; readonly from: string; readonly to: string };

/** What is bound without a mask, in the place of which a text has this. */
const BOUND = '\u0000';

const patternsFor = (
  a: string,
  b: string,
  place: TextLocation,
  tokenize: Tokenizer,
): readonly FoundPattern[] => {
  const parts = textDifferences(withoutValues(a, place, tokenize), withoutValues(b, place, tokenize));
  const found: FoundPattern[] = [];
  for (const [i, part] of parts.entries()) {
    const next = parts[i + 1];
    if (part.kind !== 'removed' || next?.kind !== 'added') continue;
    const [before, after] = [parts[i - 1], parts[i + 2]];
    const pattern = patternOf(
      before?.kind === 'same' ? before.text : '',
      [part.text, next.text],
      after?.kind === 'same' ? after.text : '',
    );
    if (pattern !== null) found.push({ pattern, from: part.text, to: next.text });
  }
  return found;
};

const withoutValues = (text: string, place: TextLocation, tokenize: Tokenizer): string => {
  let plain = '';
  let done = 0;
  for (const { start, end } of tokenize(text, place)) {
    plain += text.slice(done, start) + BOUND;
    done = end;
  }
  return plain + text.slice(done);
};

/** Null: the values are too long, or nothing around them says where they stand. */
const patternOf = (before: string, values: readonly string[], after: string): string | null => {
  if (values.some((value) => value.length > LONGEST_VALUE || value.includes(BOUND))) return null;
  const head = before.slice(-MOST_AROUND).split(BOUND).at(-1) ?? '';
  const tail = after.slice(0, MOST_AROUND).split(BOUND)[0] ?? '';
  if ((head + tail).trim() === '') return null;
  return `${escaped(head)}${classFor(values)}{1,${LONGEST_VALUE}}${escaped(tail)}`;
};

const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/^\d+$/, '\\d'],
  [/^[A-Za-z]+$/, '[A-Za-z]'],
  [/^\w+$/, '\\w'],
  [/^\S+$/, '\\S'],
];

/** The narrowest class that has all characters of the values. */
const classFor = (values: readonly string[]): string =>
  CLASSES.find(([pattern]) => values.every((value) => pattern.test(value)))?.[1] ?? '[^\\n]';

const escaped = (text: string): string =>
  text
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t');
