import { isForbiddenKey } from '@stemma/canonical';
import type { ImportSummary } from '@stemma/events';

/** The most names of one list, and the most characters of one name; a title and a version are as long at most. */
export const MOST_NAMES = 200;
const LONGEST_NAME = 200;

/** What stands for the names that are more than {@link MOST_NAMES}: their counts together. */
const OTHER_NAMES = '(others)';

/** The keys of a summary whose value is counts by names that stand in the file. */
const NAMED_COUNTS = ['models', 'messages_by_role', 'missing', 'dropped'] as const;

type NamedCounts = { readonly [name: string]: number };

const total = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

/** The summary with every name as `rename` gives it; counts of names that are one name then are added. */
export const withNames = (summary: ImportSummary, rename: (name: string) => string): ImportSummary => {
  const renamed: { [key in (typeof NAMED_COUNTS)[number]]?: NamedCounts } = {};
  for (const key of NAMED_COUNTS) {
    const counts = summary[key];
    if (counts !== undefined) renamed[key] = countsOf(Object.entries(counts), rename);
  }
  const { warnings } = summary;
  return {
    ...summary,
    ...renamed,
    ...(warnings !== undefined && {
      warnings: warnings.map((warning) => ({ ...warning, first: rename(warning.first) })),
    }),
  };
};

const countsOf = (
  entries: readonly (readonly [string, number])[],
  rename: (name: string) => string,
): NamedCounts => {
  const counts = new Map<string, number>();
  for (const [name, count] of entries) {
    const next = rename(name);
    counts.set(next, total(counts.get(next) ?? 0, count));
  }
  return Object.fromEntries(counts);
};

/** A text of a file as it can be recorded as a name: `__proto__`, which no object may have as a key, is `(__proto__)`. */
export const recordableName = (name: string): string =>
  isForbiddenKey(name) ? `(${name})` : name.toWellFormed();

/** A text with {@link LONGEST_NAME} characters at most. */
export const cutName = (name: string): string =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1).toWellFormed()}…` : name;

/** The summary with so many names, of so many characters, as are recorded; it changes nothing of one that it gave before. */
export const boundNames = (summary: ImportSummary): ImportSummary => {
  const cut = withNames(summary, cutName);
  const bounded: { [key in (typeof NAMED_COUNTS)[number]]?: NamedCounts } = {};
  for (const key of NAMED_COUNTS) {
    const counts = cut[key];
    if (counts !== undefined) bounded[key] = mostFrequent(counts);
  }
  return { ...cut, ...bounded };
};

/** The names with the highest counts, equal ones by name; the others together are one more. */
const mostFrequent = (counts: NamedCounts): NamedCounts => {
  const { [OTHER_NAMES]: known, ...named } = counts;
  const sorted = Object.entries(named).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const others = sorted
    .slice(MOST_NAMES)
    .map(([, count]) => count)
    .concat(known ?? [])
    .reduce(total, 0);
  return Object.fromEntries([
    ...sorted.slice(0, MOST_NAMES),
    ...(known !== undefined || sorted.length > MOST_NAMES ? ([[OTHER_NAMES, others]] as const) : []),
  ]);
};
