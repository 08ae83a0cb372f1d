import { isStemmaError } from '@stemma/errors';

/** What came of one vector. */
export type VectorOutcome =
  | { readonly status: 'passed' }
  | { readonly status: 'failed'; readonly detail: string }
  | { readonly status: 'unsupported'; readonly detail: string };

export const passed: VectorOutcome = { status: 'passed' };
export const failed = (detail: string): VectorOutcome => ({ status: 'failed', detail });
export const unsupported = (detail: string): VectorOutcome => ({ status: 'unsupported', detail });

/** A named outcome: which vector, what came of it. */
export type VectorResult = { readonly name: string; readonly outcome: VectorOutcome };

/** Plain text of a value for messages and comparison: sorted keys, bigints as digits. */
export const show = (value: unknown): string => {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(show).join(',')}]`;
  if (typeof value !== 'object' || value === null)
    return value === undefined ? 'undefined' : JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${show(item)}`).join(',')}}`;
};

/** Passed if both are the same value. */
export const same = (what: string, got: unknown, wanted: unknown): VectorOutcome => {
  const a = show(got);
  const b = show(wanted);
  return a === b ? passed : failed(`${what}: got ${clip(a)}, expected ${clip(b)}`);
};

const clip = (text: string): string => (text.length > 600 ? text.slice(0, 600) + '…' : text);

/** The first that failed, else the first that did not pass: what is not supported hides no failure. */
export const all = (...outcomes: readonly VectorOutcome[]): VectorOutcome =>
  outcomes.find(({ status }) => status === 'failed') ??
  outcomes.find(({ status }) => status !== 'passed') ??
  passed;

/**
 * What came of an attempt against what was expected: a value, or `{error: code}` (`E_*` is any coded error).
 */
export const runVector = (what: string, run: () => unknown, wanted: unknown): VectorOutcome => {
  const error = errorIn(wanted);
  try {
    const got = run();
    return error === undefined
      ? same(what, got, wanted)
      : failed(`${what}: got ${clip(show(got))}, expected ${error}`);
  } catch (thrown) {
    if (!isStemmaError(thrown))
      return failed(
        `${what}: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`,
      );
    if (error === thrown.code || (error === 'E_*' && thrown.code !== 'E_INTERNAL')) return passed;
    return failed(`${what}: got ${thrown.code} (${thrown.message}), expected ${error ?? clip(show(wanted))}`);
  }
};

export const errorIn = (wanted: unknown): string | undefined =>
  typeof wanted === 'object' && wanted !== null && 'error' in wanted ? String(wanted.error) : undefined;

/** A word of a vector: its text, or what else it is as JSON. */
export const word = (value: unknown, missing = ''): string =>
  value === undefined ? missing : typeof value === 'string' ? value : show(value);
