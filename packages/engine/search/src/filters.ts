import { fail } from '@stemma/errors';

/*
 * The language of searches: `tool:refund failed:true calls:>10 since:7d "travel insurance"`. A filter is a field, a colon and a
 * value; everything else is text. A filter is of whole histories.
 */

/** Fields with a text: `*` in it stands for any characters, upper and lower case are alike. */
export const TEXT_FIELDS = ['tool', 'model', 'name', 'ended', 'format', 'label'] as const;
/** Fields with a number: `calls:12`, `calls:>10`, `failed:true` (more than none) and `failed:false`. */
export const NUMBER_FIELDS = [
  'calls',
  'tools',
  'failed',
  'errors',
  'tokens',
  'cost',
  'branches',
  'interventions',
  'held',
  'exit',
] as const;
/** Fields with a time: `since:2026-11-20`, `since:7d`. */
export const TIME_FIELDS = ['since', 'until'] as const;

export type TextField = (typeof TEXT_FIELDS)[number];
export type NumberField = (typeof NUMBER_FIELDS)[number];
type Comparison = '=' | '>' | '>=' | '<' | '<=';

export type SearchFilter = { readonly not: boolean } & (
  | { readonly field: TextField; readonly value: string }
  | { readonly field: NumberField; readonly is: Comparison; readonly than: number }
  /** Milliseconds since 1970. */
  | { readonly field: (typeof TIME_FIELDS)[number]; readonly at: number }
);

export type ParsedSearch = {
  readonly filters: readonly SearchFilter[];
  /** What is no filter, as it was typed. */
  readonly text: string;
};

/** A word or a phrase of the text of a search: `-"a phrase"`. */
export type SearchWord = { readonly text: string; readonly isPhrase: boolean; readonly not: boolean };

const LONGEST = 1_000;
const PART = /-?(?:[a-z]+:)?(?:"[^"]*(?:"|$)\*?|[^\s"]+)/gu;
const FILTER = /^(-?)([a-z]+):(?:"([^"]*)"?|(.*))$/su;

/**
 * The filters in what people type in a search box, and the rest of it.
 *
 * @param now milliseconds since 1970: from there `7d` counts back
 * @throws E_SEARCH_INVALID for a value that its field cannot have, and for a field that is nearly one
 */
export const parseFilters = (query: string, now: number): ParsedSearch => {
  if (query.length > LONGEST) throw fail('E_SEARCH_INVALID', `the query has more than ${LONGEST} characters`);
  const filters: SearchFilter[] = [];
  const rest: string[] = [];
  for (const [part] of query.matchAll(PART)) {
    const [, minus = '', field = '', quoted, plain] = FILTER.exec(part) ?? [];
    const filter = field === '' ? null : filterOf(field, quoted ?? plain ?? '', minus === '-', now);
    if (filter === null) rest.push(part);
    else filters.push(filter);
  }
  return { filters, text: rest.join(' ') };
};

/** The words and phrases of a text, in order. */
export const wordsOfSearch = (text: string): readonly SearchWord[] =>
  [...text.matchAll(PART)].map(([part]) => {
    const [, minus = '', phrase, word = ''] = /^(-?)(?:"([^"]*)"?\*?|(.*))$/su.exec(part) ?? [];
    return { text: phrase ?? word, isPhrase: phrase !== undefined, not: minus === '-' };
  });

/** Null: the field is none, and the part is text (`https://…`). */
const filterOf = (field: string, value: string, not: boolean, now: number): SearchFilter | null => {
  const [text, number, time] = [TEXT_FIELDS, NUMBER_FIELDS, TIME_FIELDS].map((fields) =>
    (fields as readonly string[]).includes(field),
  );
  if (text === true) {
    if (value === '') throw wrong(field, value, 'a text');
    return { field: field as TextField, value, not };
  }
  if (number === true) return { field: field as NumberField, ...comparisonOf(field, value), not };
  if (time === true)
    return { field: field as (typeof TIME_FIELDS)[number], at: timeOf(field, value, now), not };
  const near = [...TEXT_FIELDS, ...NUMBER_FIELDS, ...TIME_FIELDS].find((known) => isNear(known, field));
  if (near !== undefined)
    throw fail(
      'E_SEARCH_INVALID',
      `there is no filter ${field}: is ${near}: meant? A text with a colon stands in quotation marks`,
    );
  return null;
};

const wrong = (field: string, value: string, wanted: string) =>
  fail('E_SEARCH_INVALID', `${field}: wants ${wanted}, not ${JSON.stringify(value.slice(0, 60))}`);

const comparisonOf = (field: string, value: string): { readonly is: Comparison; readonly than: number } => {
  if (value === 'true') return { is: '>', than: field === 'branches' ? 1 : 0 };
  if (value === 'false') return { is: '<=', than: field === 'branches' ? 1 : 0 };
  const [, is = '', digits = ''] = /^(>=|<=|>|<|=?)(-?\d{1,15}(?:\.\d{1,9})?)$/u.exec(value) ?? [];
  if (digits === '') throw wrong(field, value, 'a number such as 12, >10 or <=3, or true or false');
  return { is: is === '' ? '=' : (is as Comparison), than: Number(digits) };
};

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const timeOf = (field: string, value: string, now: number): number => {
  const [, amount, unit = ''] = /^(\d{1,6})([mhdw])$/u.exec(value) ?? [];
  if (amount !== undefined) return now - Number(amount) * (UNITS[unit] ?? 0);
  const at = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]{5,12}Z)?$/u.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(at)) throw wrong(field, value, 'a time such as 2026-11-20, 2026-11-20T10:00:00Z or 7d');
  return at;
};

/** True if one letter is another, is missing, is too many, or two are swapped. */
const isNear = (known: string, given: string): boolean => {
  if (given.length < 4 || Math.abs(known.length - given.length) > 1) return false;
  let start = 0;
  while (start < known.length && known[start] === given[start]) start++;
  const [a, b] = [known.slice(start), given.slice(start)];
  return (
    a.slice(1) === b.slice(1) ||
    a.slice(1) === b ||
    a === b.slice(1) ||
    (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2))
  );
};

/** What a text filter asks: the whole of a text, with `*` for any characters, or with none of them a part of it. */
export const isLike = (text: string, wanted: string): boolean => {
  const [here, there] = [text.toLowerCase(), wanted.toLowerCase()];
  if (!there.includes('*')) return here === there;
  const parts = there.split('*');
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!here.startsWith(first) || !here.endsWith(last) || here.length < first.length + last.length)
    return false;
  let at = first.length;
  const end = here.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = here.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
};

/** What a number filter asks. */
export const isThat = (
  value: number,
  { is, than }: { readonly is: Comparison; readonly than: number },
): boolean => {
  switch (is) {
    case '=':
      return value === than;
    case '>':
      return value > than;
    case '>=':
      return value >= than;
    case '<':
      return value < than;
    case '<=':
      return value <= than;
  }
};
