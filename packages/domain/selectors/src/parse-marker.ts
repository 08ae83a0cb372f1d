import { fail, NAME_CHARACTER } from '@stemma/errors';
import { invalid, peek, take, takeMatch, type Scanner } from './scanner.ts';
import type { Marker, MarkerRange } from './syntax.ts';

const NAME = new RegExp(`${NAME_CHARACTER}+`, 'uy');
const DIGITS = /\d+/y;
const SIGNED = /-?\d+/y;

/**
 * Reads the marker or range at the head of a selector or a reference (context-tree §5, §10.22).
 *
 * @throws E_SELECTOR_INVALID; E_SNAPSHOT_RANGE_WILDCARD for `@*` as an end of a range, and only then
 *   E_SNAPSHOT_RANGE_KIND_MISMATCH for ends of two kinds.
 */
export const parseMarker = (scanner: Scanner): Marker | MarkerRange => {
  const start = scanner.at;
  const first = parseOne(scanner);
  if (!take(scanner, '..') && !take(scanner, ':')) return first;
  const second = peek(scanner) === '@' ? parseOne(scanner) : parseShortEnd(scanner, first);
  if (first.kind === 'all' || second.kind === 'all')
    throw fail('E_SNAPSHOT_RANGE_WILDCARD', `at character ${start + 1}: @* cannot be the end of a range`, {
      at: start,
    });
  if (!isEnd(first) || !isEnd(second)) throw invalid(scanner, 'ends of a range that are @t… or @c…', start);
  if (first.kind !== second.kind)
    throw fail(
      'E_SNAPSHOT_RANGE_KIND_MISMATCH',
      `at character ${start + 1}: one end of the range is @${first.kind}, the other @${second.kind}`,
      { at: start },
    );
  return { kind: 'range', of: first.kind, from: endValue(first), to: endValue(second) };
};

type End = Extract<Marker, { kind: 't' | 'c' }>;
const isEnd = (marker: Marker): marker is End => marker.kind === 't' || marker.kind === 'c';
const endValue = (end: End): number => (end.kind === 't' ? end.value : end.cycle);

const parseOne = (scanner: Scanner): Marker => {
  const start = scanner.at;
  take(scanner, '@');
  if (take(scanner, '*')) return { kind: 'all' };
  if (take(scanner, 'name:')) {
    const name = takeMatch(scanner, NAME);
    if (name === null) throw invalid(scanner, 'a name of letters, digits, _ . -');
    return { kind: 'name', name };
  }
  if (take(scanner, 't')) return { kind: 't', value: parseBack(scanner) };
  if (take(scanner, 'c')) return { kind: 'c', cycle: parseCount(scanner) };
  if (take(scanner, 's')) return { kind: 's', seq: parseCount(scanner) };
  throw invalid(scanner, 'one of @t0 @t-1 @c3 @s57 @name:NAME @*', start);
};

/** The second end without its marker: `@t-5..-1`, `@c3..9`. */
const parseShortEnd = (scanner: Scanner, first: Marker): Marker => {
  if (first.kind === 't') return { kind: 't', value: parseBack(scanner) };
  if (first.kind === 'c') return { kind: 'c', cycle: parseCount(scanner) };
  throw invalid(scanner, 'the other end of the range, such as @t-1 or @c9');
};

const parseBack = (scanner: Scanner): number => {
  const start = scanner.at;
  const digits = takeMatch(scanner, SIGNED);
  const value = Number(digits ?? Number.NaN);
  if (!Number.isSafeInteger(value) || value > 0)
    throw invalid(scanner, '0 or a negative number of snapshots', start);
  return value === 0 ? 0 : value;
};

const parseCount = (scanner: Scanner): number => {
  const start = scanner.at;
  const digits = takeMatch(scanner, DIGITS);
  const value = Number(digits ?? Number.NaN);
  if (!Number.isSafeInteger(value)) throw invalid(scanner, 'a number', start);
  return value;
};
