import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { placeholder } from './placeholder.ts';
import type { SecretLocation, RedactionTally } from './tally.ts';
import type { TextRule } from './text-rule.ts';
import { disjointSpans } from './text-rules.ts';
import { unescaped } from './unescaped.ts';

/** `deep`: lists and objects are secrets too, not only what they hold. */
export type KeyRule = { readonly rule: string; readonly deep: boolean };

/** The rules of a redactor, ready for use. */
export type Rules = {
  readonly texts: readonly TextRule[];
  /** True if a number may be a secret too. */
  readonly numbers: boolean;
  readonly pointers: readonly (readonly [rule: string, path: readonly string[]])[];
  /** The rule for a key whose value is a secret whatever it says; null for other keys. */
  readonly ruleOfKey: (key: string) => KeyRule | null;
  /** The keyed label of a secret; null without labels. */
  readonly labelOf: (secret: string) => string | null;
};

/** What is done with each text after the rules: nothing, or what the user's function made of it. */
export type Leaf = (text: string, location: SecretLocation, path: readonly string[]) => string;

export type Walk = { readonly rules: Rules; readonly leaf: Leaf; readonly tally: RedactionTally };

/** A longer text is not read as JSON: no content is as long. */
export const MAX_INNER_JSON = 64 * 1024 * 1024;

const replaced = ({ rules, tally }: Walk, location: SecretLocation, rule: string, secret: string): string => {
  tally.add(location, rule);
  return placeholder(rule, rules.labelOf(secret));
};

/** What is left beside a placeholder can look like a secret only then: each round takes out something, so few do. */
const MAX_ROUNDS = 16;

/** A text with its secrets replaced. */
const redactSpans = (walk: Walk, text: string, location: SecretLocation): string => {
  let left = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = redactOnce(walk, left, location);
    if (next === left) break;
    left = next;
  }
  return left;
};

const redactOnce = (walk: Walk, text: string, location: SecretLocation): string => {
  let done = '';
  let at = 0;
  for (const { start, end, rule } of disjointSpans(text, walk.rules.texts)) {
    done += text.slice(at, start) + replaced(walk, location, rule, text.slice(start, end));
    at = end;
  }
  return at === 0 ? text : done + text.slice(at);
};

export const redactText = (
  walk: Walk,
  text: string,
  location: SecretLocation,
  path: readonly string[] = [],
): string => {
  const inner = /^\s*[[{]/u.test(text) && text.length <= MAX_INNER_JSON ? innerJson(text) : undefined;
  if (inner === undefined) return walk.leaf(redactPlain(walk, text, location), location, path);
  const value = redactValue(walk, inner, location, path);
  const isSame = value === inner && !hidesSecret(walk, text);
  return redactSpans(walk, isSame ? text : canonicalJson(value), location);
};

/** A text that is no JSON. One that hides a secret behind escapes is recorded without escapes. */
const redactPlain = (walk: Walk, text: string, location: SecretLocation): string => {
  const done = redactSpans(walk, text, location);
  for (const view of unescaped(done))
    if (holdsSecret(walk, view)) return redactPlain(walk, redactSpans(walk, view, location), location);
  return done;
};

const holdsSecret = ({ rules }: Walk, text: string): boolean => disjointSpans(text, rules.texts).length > 0;

/** True if a secret stands in a text behind escapes: of JSON in a value that has the name of a later one, too. */
const hidesSecret = (walk: Walk, text: string): boolean => {
  for (const view of unescaped(text)) if (holdsSecret(walk, view)) return true;
  return false;
};

/** A text that is JSON hides names and escapes from patterns. */
const innerJson = (text: string): WideJson | undefined => {
  try {
    return parseWideJson(text);
  } catch {
    return undefined;
  }
};

const isPlaceholder = (value: WideJson): boolean =>
  typeof value === 'string' && /^\[redacted:[A-Za-z0-9_.-]{1,64}(?:#[0-9a-f]{12})?\]$/u.test(value);

/** The whole value replaced, unless it says nothing or was replaced before. */
const redactWhole = (walk: Walk, value: WideJson, location: SecretLocation, rule: string): WideJson =>
  value === null || value === '' || typeof value === 'boolean' || isPlaceholder(value)
    ? value
    : replaced(walk, location, rule, typeof value === 'string' ? value : canonicalJson(value));

/** A value with its secrets replaced; the same value if it has none. */
export const redactValue = (
  walk: Walk,
  value: WideJson,
  location: SecretLocation,
  path: readonly string[],
): WideJson => {
  const pointed = walk.rules.pointers.find(([, pointer]) => fits(pointer, path));
  if (pointed !== undefined) return redactWhole(walk, value, location, pointed[0]);
  if (typeof value === 'string') return redactText(walk, value, location, path);
  if (typeof value === 'number' || typeof value === 'bigint') return redactNumber(walk, value, location);
  if (Array.isArray(value)) return redactList(walk, value as readonly WideJson[], location, path);
  return isJsonObject(value) ? redactObject(walk, value, location, path) : value;
};

const fits = (pointer: readonly string[], path: readonly string[]): boolean =>
  pointer.length === path.length && pointer.every((part, i) => part === '*' || part === path[i]);

/** Shorter numbers count things: no card, phone or account has so few digits. */
const LEAST_DIGITS = 6;

const redactNumber = (walk: Walk, value: number | bigint, location: SecretLocation): WideJson => {
  const text = String(value);
  if (!walk.rules.numbers || text.length < LEAST_DIGITS) return value;
  const done = redactSpans(walk, text, location);
  return done === text ? value : done;
};

/** What a telling name is set to: replaced whole, or walked through if it is a container that only holds more. */
const redactNamed = (
  walk: Walk,
  named: KeyRule | null,
  value: WideJson,
  location: SecretLocation,
  path: readonly string[],
): WideJson =>
  named !== null && (named.deep || typeof value !== 'object' || value === null)
    ? redactWhole(walk, value, location, named.rule)
    : redactValue(walk, value, location, path);

/** Of two texts the first may name the second: `["Authorization", "…"]`. */
const redactList = (
  walk: Walk,
  list: readonly WideJson[],
  location: SecretLocation,
  path: readonly string[],
): readonly WideJson[] => {
  const [name] = list;
  const named = list.length === 2 && typeof name === 'string' ? walk.rules.ruleOfKey(name) : null;
  const done = list.map((item, i) =>
    redactNamed(walk, i === 1 ? named : null, item, location, [...path, String(i)]),
  );
  return done.some((item, i) => item !== list[i]) ? done : list;
};

/** The rule for the `value` of an object such as `{name: 'Authorization', value: '…'}`. */
const ruleOfPair = ({ rules }: Walk, { name, key, header }: WideJsonObject): KeyRule | null => {
  const called = name ?? key ?? header;
  return typeof called === 'string' ? rules.ruleOfKey(called) : null;
};

const redactObject = (
  walk: Walk,
  object: WideJsonObject,
  location: SecretLocation,
  path: readonly string[],
): WideJsonObject => {
  const pair = Object.hasOwn(object, 'value') ? ruleOfPair(walk, object) : null;
  const keys = new Set(Object.keys(object));
  const entries = Object.entries(object).map(([key, value]): readonly [string, WideJson] => {
    const named = (key === 'value' ? pair : null) ?? walk.rules.ruleOfKey(key);
    const spelled = key === 'logprobs' ? ruleOfTokens(walk, value) : undefined;
    if (spelled !== undefined) {
      walk.tally.add(location, spelled);
      return [key, Array.isArray(value) ? [] : null];
    }
    const next = redactNamed(walk, named, value, location, [...path, key]);
    const free = freeKey(keys, redactSpans(walk, key, location), key);
    return [free, next];
  });
  return entries.some(([key, value]) => object[key] !== value) ? Object.fromEntries(entries) : object;
};

/**
 * The rule that finds a secret in the tokens of a text, which `logprobs` has once more, each with its bytes and what could have
 * stood there: none of it can be rewritten.
 */
const ruleOfTokens = ({ rules }: Walk, value: WideJson): string | undefined => {
  const lists = Array.isArray(value) ? [value] : isJsonObject(value) ? Object.values(value) : [];
  for (const list of lists as readonly WideJson[]) {
    if (!Array.isArray(list)) continue;
    const tokens = (list as readonly WideJson[]).map((item) => (isJsonObject(item) ? item['token'] : item));
    const [found] = disjointSpans(tokens.filter((token) => typeof token === 'string').join(''), rules.texts);
    if (found !== undefined) return found.rule;
  }
  return undefined;
};

/** A key that lost a secret gets a number if another has what is left of it. */
const freeKey = (keys: Set<string>, key: string, was: string): string => {
  if (key === was) return key;
  let free = key;
  for (let n = 2; keys.has(free); n++) free = `${key}~${n}`;
  keys.add(free);
  return free;
};
