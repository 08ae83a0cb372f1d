import { fail, type StemmaError } from '@stemma/errors';

/** A position in a text that is being parsed; the functions below move it. */
export type Scanner = { readonly text: string; at: number };

const SPACE = /[ \t\r\n]*/y;

/** Skips white space; returns true if there was any (context-tree §10.33: space, tab, CR, LF). */
export const skipSpace = (scanner: Scanner): boolean => {
  const start = scanner.at;
  SPACE.lastIndex = start;
  SPACE.exec(scanner.text);
  scanner.at = Math.max(SPACE.lastIndex, start);
  return scanner.at > start;
};

export const atEnd = (scanner: Scanner): boolean => scanner.at >= scanner.text.length;

export const peek = (scanner: Scanner): string => scanner.text[scanner.at] ?? '';

/** Steps over `word` if it stands here. */
export const take = (scanner: Scanner, word: string): boolean => {
  if (!scanner.text.startsWith(word, scanner.at)) return false;
  scanner.at += word.length;
  return true;
};

/** Skips and returns the match of a sticky pattern at the current position. */
export const takeMatch = (scanner: Scanner, sticky: RegExp): string | null => {
  sticky.lastIndex = scanner.at;
  const found = sticky.exec(scanner.text)?.[0];
  if (found === undefined) return null;
  scanner.at += found.length;
  return found;
};

/** @throws E_SELECTOR_INVALID if `word` is not at the current position. */
export const expect = (scanner: Scanner, word: string, why: string): void => {
  if (!take(scanner, word)) throw invalid(scanner, `“${word}” ${why}`);
};

/** The error for an invalid selector: the fault and its character, from 1. */
export const invalid = (scanner: Scanner, expected: string, at = scanner.at): StemmaError => {
  const rest = scanner.text.slice(at, at + 12);
  const found =
    rest === '' ? 'the selector ends there' : `found “${rest}${at + 12 < scanner.text.length ? '…' : ''}”`;
  return fail('E_SELECTOR_INVALID', `at character ${at + 1}: expected ${expected}, ${found}`, { at });
};
