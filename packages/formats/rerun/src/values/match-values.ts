import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { bindId, bindValue, noteBinding, type TentativeBindings } from './ledger.ts';
import { ID_KINDS, TIME_KINDS, type TextLocation, type Tokenizer } from './tokens.ts';
import type { Token } from './token.ts';

/** The tokenizers of the two sides. */
export type Tokenizers = { readonly recorded: Tokenizer; readonly now: Tokenizer };

/** Whether two values are equal but for values that may stand for each other; those are then bound in the draft. */
export const matchValues = (
  recorded: WideJson,
  now: WideJson,
  place: TextLocation,
  tokenizers: Tokenizers,
  draft: TentativeBindings,
): boolean => {
  const texts = (a: string, b: string): boolean => matchTexts(a, b, place, tokenizers, draft);
  const values = (a: WideJson, b: WideJson, name: string): boolean => {
    if (typeof a === 'string' && typeof b === 'string') return texts(a, b);
    if (isNumber(a) && isNumber(b)) return a === b || texts(numberText(name, a), numberText(name, b));
    if (isList(a) && isList(b))
      return a.length === b.length && a.every((item, i) => values(item, b[i] as WideJson, name));
    if (isJsonObject(a) && isJsonObject(b)) return objects(a, b);
    return a === b;
  };
  const objects = (a: WideJsonObject, b: WideJsonObject): boolean => {
    const pairs = pairedKeys(Object.keys(a), Object.keys(b));
    return (
      pairs !== undefined &&
      pairs.every(([one, other]) => {
        if (one !== other && !texts(one, other)) return false;
        const [x, y] = [a[one] as WideJson, b[other] as WideJson];
        return isCallId(a, one) && typeof x === 'string' && typeof y === 'string'
          ? callIds(x, y)
          : values(x, y, one);
      })
    );
  };
  const callIds = (a: string, b: string): boolean => {
    if (!bindId(draft, a, b)) return false;
    if (a !== b) noteBinding(draft, { kind: 'call id', recorded: a, now: b });
    return true;
  };
  return values(recorded, now, '');
};

/** As JSON has it: the name of a number says whether it is a duration. */
const numberText = (name: string, value: number | bigint): string => `"${name}": ${canonicalJson(value)}`;

const isNumber = (value: WideJson): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Fields whose value is the id of a call of a tool, whatever it looks like. */
const CALL_ID_FIELDS: ReadonlySet<string> = new Set(['tool_call_id', 'tool_use_id', 'call_id']);

const isCallId = (object: WideJsonObject, name: string): boolean =>
  CALL_ID_FIELDS.has(name) ||
  (name === 'id' && (object['function'] !== undefined || object['custom'] !== undefined));

/** Keys of both objects that are the same, and the others of each in their order; undefined: one has more. */
const pairedKeys = (
  a: readonly string[],
  b: readonly string[],
): readonly (readonly [string, string])[] | undefined => {
  if (a.length !== b.length) return undefined;
  const inB = new Set(b);
  const same = a.filter((key) => inB.has(key));
  if (same.length === a.length) return a.map((key) => [key, key]);
  const shared = new Set(same);
  const others = b.filter((key) => !shared.has(key));
  return [
    ...same.map((key) => [key, key] as const),
    ...a.filter((key) => !shared.has(key)).map((key, i) => [key, others[i] as string] as const),
  ];
};

const matchTexts = (
  recorded: string,
  now: string,
  place: TextLocation,
  tokenizers: Tokenizers,
  draft: TentativeBindings,
): boolean => {
  const [a, b] = [tokenizers.recorded(recorded, place), tokenizers.now(now, place)];
  if (recorded === now && a.length === 0) return true;
  if (a.length !== b.length) return false;
  let [doneA, doneB] = [0, 0];
  for (const [i, token] of a.entries()) {
    const other = b[i] as Token;
    if (recorded.slice(doneA, token.start) !== now.slice(doneB, other.start)) return false;
    const text = recorded.slice(token.start, token.end);
    if (!bindValue(draft, { token, text }, { token: other, text: now.slice(other.start, other.end) }))
      return false;
    [doneA, doneB] = [token.end, other.end];
  }
  return recorded.slice(doneA) === now.slice(doneB);
};

/** What a value is looked up by, whatever its ids, times and other values of one run are; and those of them that are noted. */
export type MaskedValue = {
  readonly text: string;
  readonly ids: readonly string[];
  readonly times: readonly string[];
};

/** Two values that match have the same text here; those that have it need not match. */
export const maskedValue = (value: WideJson, place: TextLocation, tokenize: Tokenizer): MaskedValue => {
  const ids: string[] = [];
  const times: string[] = [];
  const text = (plain: string): string => {
    const tokens = tokenize(plain, place);
    if (tokens.length === 0) return plain;
    let masked = '';
    let done = 0;
    for (const { start, end, kind, mask } of tokens) {
      masked += `${plain.slice(done, start)}⟨${mask ?? kind}⟩`;
      done = end;
      if (ID_KINDS.has(kind)) ids.push(plain.slice(start, end));
      else if (TIME_KINDS.has(kind)) times.push(plain.slice(start, end));
    }
    return masked + plain.slice(done);
  };
  const masked = (each: WideJson, name: string): WideJson => {
    if (typeof each === 'string') return text(each);
    if (isNumber(each)) return text(numberText(name, each));
    if (isList(each)) return each.map((item) => masked(item, name));
    if (!isJsonObject(each)) return each;
    return Object.fromEntries(
      Object.entries(each).map(([key, item]) => {
        if (!isCallId(each, key) || typeof item !== 'string') return [text(key), masked(item, key)];
        ids.push(item);
        return [key, '⟨call id⟩'];
      }),
    );
  };
  return { text: canonicalJson(masked(value, '')), ids, times };
};

const isList = (value: WideJson): value is readonly WideJson[] => Array.isArray(value);
