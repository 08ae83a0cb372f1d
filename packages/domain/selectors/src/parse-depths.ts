import { expect, invalid, skipSpace, take, takeMatch, type Scanner } from './scanner.ts';
import type { Depths } from './syntax.ts';

const INTEGER = /-?\d+/y;
const ORDER = /<=|>=|<|>/y;

/** Reads `( expr )`: `n`, `a,b,c`, `a-b`, `a..b`, `{a,b}`, `<n`, `<=n`, `>n`, `>=n`, with free space inside. */
export const parseDepths = (scanner: Scanner): Depths => {
  expect(scanner, '(', 'after depth');
  skipSpace(scanner);
  const depths = parseExpression(scanner);
  skipSpace(scanner);
  expect(scanner, ')', 'to close depth(');
  return depths;
};

const parseExpression = (scanner: Scanner): Depths => {
  const op = takeMatch(scanner, ORDER) as '<' | '<=' | '>' | '>=' | null;
  if (op !== null) {
    skipSpace(scanner);
    return { kind: 'order', op, value: parseInteger(scanner) };
  }
  if (take(scanner, '{')) {
    skipSpace(scanner);
    const values = parseList(scanner, [parseInteger(scanner)]);
    expect(scanner, '}', 'to close {');
    return { kind: 'list', values };
  }
  const start = scanner.at;
  const first = parseInteger(scanner);
  skipSpace(scanner);
  if (!take(scanner, '..') && !take(scanner, '-'))
    return { kind: 'list', values: parseList(scanner, [first]) };
  skipSpace(scanner);
  const to = parseInteger(scanner);
  if (to < first) throw invalid(scanner, 'the smaller depth first', start);
  return { kind: 'span', from: first, to };
};

const parseList = (scanner: Scanner, values: number[]): readonly number[] => {
  for (skipSpace(scanner); take(scanner, ','); skipSpace(scanner)) {
    skipSpace(scanner);
    values.push(parseInteger(scanner));
  }
  return values;
};

/** Reads a whole number that a JavaScript number holds exactly. */
export const parseInteger = (scanner: Scanner): number => {
  const start = scanner.at;
  const digits = takeMatch(scanner, INTEGER);
  if (digits === null) throw invalid(scanner, 'a whole number');
  const value = Number(digits);
  if (!Number.isSafeInteger(value)) throw invalid(scanner, 'a number of at most 2^53−1', start);
  return value === 0 ? 0 : value;
};
