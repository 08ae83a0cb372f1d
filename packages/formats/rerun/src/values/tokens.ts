import type { MovedFolder } from '../options.ts';
import type { ValueKind } from './bindings.ts';
import type { MaskMatcher, Token } from './token.ts';
import { timeAt } from './times.ts';

/** Where a text stands: results of tools hold durations, sizes, ports and process ids, too. */
export type TextLocation = 'system' | 'user' | 'assistant' | 'tool' | 'parameters';

/** Finds the values of a text, in order, in a time that grows with its length. */
export type Tokenizer = (text: string, place: TextLocation) => readonly Token[];

/** Values of one run: they stand for others one to one. */
export const ID_KINDS: ReadonlySet<ValueKind> = new Set<ValueKind>([
  'uuid',
  'ulid',
  'nanoid',
  'hex',
  'call id',
  'path',
]);

export const TIME_KINDS: ReadonlySet<ValueKind> = new Set<ValueKind>(['time', 'date', 'clock', 'epoch']);

const RUN_OR_SLASH = /[A-Za-z0-9]+|\//g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9A-Za-z])/iy;
const CALL_ID =
  /(?:call|toolu|tooluse|fc|ctc|msg|resp|rs|chatcmpl|srvtoolu|gen|req|run|thread)[_-][A-Za-z0-9_-]{8,128}/y;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const HEX = /^(?:[0-9a-f]+|[0-9A-F]+)$/;
const WIDE_RUN = /[A-Za-z0-9_-]{0,21}/y;
const TEMP =
  /\/(?:private\/)?(?:tmp|var\/tmp|dev\/shm|var\/folders\/[A-Za-z0-9_+-]{1,64}\/[A-Za-z0-9_+-]{1,64}\/T)\/[A-Za-z0-9._-]{1,255}/y;
const WINDOWS_TEMP =
  /[A-Za-z]:\\{1,2}(?:Users\\{1,2}[^\\/:*?"<>|\s]{1,64}\\{1,2}AppData\\{1,2}Local|Windows)\\{1,2}Temp\\{1,2}[A-Za-z0-9._-]{1,255}/iy;
const DURATION =
  /\d{1,15}(?:\.\d{1,15})?(?:e-?\d{1,3})? ?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?)(?![A-Za-z0-9_])/y;
const SIZE = /\d{1,15}(?:\.\d{1,15})? ?(?:[KMGT]i?B|kB|B|bytes?)(?![A-Za-z0-9_])/y;
const NUMBER = /\d{1,20}(?:\.\d{1,20})?(?:e-?\d{1,3})?(?![A-Za-z0-9_])/y;
/** What is named before a number: `"elapsed_ms": `, `pid=`, `port `. */
const NAME_BEFORE =
  /(?:localhost|\.\d{1,3})():$|(?:^|[^a-z])(?:(pid)|(port)|(elapsed|duration|took|latency|uptime|[a-z]{1,32}_(?:ms|ns|us|secs?|seconds?)))(?:_[a-z]{1,8})?\\?["']?(?:[ \t]*[:=][ \t]*|[ \t]+|\[)$/;
const SLASH = 47;
const BACKSLASH = 92;
const HEX_DIGITS = /^[0-9a-fA-F]{4}$/;
const MOST_NAMED = 64;

/** @param folders folders of this side that are elsewhere on the other */
export const openTokenizer = (folders: readonly string[], masks: readonly MaskMatcher[]): Tokenizer => {
  const roots = folders.filter((root) => root !== '').sort((a, b) => b.length - a.length);
  return (text, place) => {
    const masked = masks.flatMap((mask) => (mask.in === 'any' || mask.in === place ? mask.find(text) : []));
    const found = tokensIn(text, place, roots);
    return masked.length === 0 ? found : withoutOverlaps([...masked, ...found]);
  };
};

/** The folders of one side. */
export const foldersOf = (folders: readonly MovedFolder[], side: 'recorded' | 'now'): readonly string[] =>
  folders.map((folder) => withoutEnd(folder[side]));

const withoutEnd = (folder: string): string => (/[/\\]$/.test(folder) ? folder.slice(0, -1) : folder);

/** Of tokens that overlap, the first of the list, which are the masks. */
const withoutOverlaps = (tokens: readonly Token[]): readonly Token[] => {
  const sorted = tokens
    .map((token, i) => ({ token, i }))
    .sort((a, b) => a.token.start - b.token.start || a.i - b.i)
    .map(({ token }) => token);
  const kept: Token[] = [];
  for (const token of sorted) {
    const last = kept.at(-1);
    if (last === undefined || last.end <= token.start) kept.push(token);
    else if (token.mask !== null && last.mask === null) kept[kept.length - 1] = token;
  }
  return kept;
};

const tokensIn = (text: string, place: TextLocation, roots: readonly string[]): readonly Token[] => {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    RUN_OR_SLASH.lastIndex = at;
    const run = RUN_OR_SLASH.exec(text);
    if (run === null) break;
    const end = run.index + run[0].length;
    const start = afterEscape(text, run.index, end);
    if (start === end) {
      at = end;
      continue;
    }
    const token = tokenAt(text, start, end, place, roots);
    if (token !== undefined) tokens.push(token);
    at = token?.end ?? end;
  }
  return tokens;
};

/** Arguments of tools are the text of JSON: letters behind a backslash are no part of what follows. */
const afterEscape = (text: string, start: number, end: number): number => {
  if (text.charCodeAt(start - 1) !== BACKSLASH) return start;
  const letter = text[start] as string;
  if ('nrtbf'.includes(letter)) return start + 1;
  return letter === 'u' && end - start >= 5 && HEX_DIGITS.test(text.slice(start + 1, start + 5))
    ? start + 5
    : start;
};

/** The character before a place; NaN if it is part of an escape, or if none is. */
const codeBefore = (text: string, at: number): number => {
  const isEscape =
    (text.charCodeAt(at - 2) === BACKSLASH && 'nrtbf'.includes(text[at - 1] as string)) ||
    (text.charCodeAt(at - 6) === BACKSLASH &&
      text[at - 5] === 'u' &&
      HEX_DIGITS.test(text.slice(at - 4, at)));
  return isEscape ? NaN : text.charCodeAt(at - 1);
};

const tokenAt = (
  text: string,
  start: number,
  end: number,
  place: TextLocation,
  roots: readonly string[],
): Token | undefined => {
  const path = pathEnd(text, start, roots);
  if (path !== -1) return token(start, path, 'path');
  if (text.charCodeAt(start) === SLASH) return undefined;
  const uuid = endOf(UUID, text, start);
  if (uuid !== -1) return token(start, uuid, 'uuid');
  const before = codeBefore(text, start);
  // Digits behind a point or a minus are of a number that began before.
  const isPart = before === 46 && isDigit(text.charCodeAt(start - 2)) && isDigit(text.charCodeAt(start));
  const time = isPart ? undefined : timeAt(text, start);
  if (time !== undefined) return { ...token(start, time.end, time.time.kind), time: time.time };
  return idAt(text, start, end) ?? (place === 'tool' && !isPart ? numberAt(text, start) : undefined);
};

const idAt = (text: string, start: number, end: number): Token | undefined => {
  const length = end - start;
  if (length >= 16) {
    const run = text.slice(start, end);
    if (length === 26 && ULID.test(run) && /[0-9]/.test(run) && /[A-Z]/.test(run))
      return token(start, end, 'ulid');
    if (HEX.test(run) && /[A-Fa-f]/.test(run) && /[0-9]/.test(run)) return token(start, end, 'hex');
  }
  if (length <= 8) {
    const call = endOf(CALL_ID, text, start);
    if (call !== -1 && /[0-9]/.test(text.slice(start, call)) && /[A-Za-z]/.test(text.slice(end, call)))
      return token(start, call, 'call id');
  }
  if (isWide(codeBefore(text, start))) return undefined;
  const wide = endOf(WIDE_RUN, text, start);
  if (wide - start !== 21 || isWide(text.charCodeAt(wide))) return undefined;
  const id = text.slice(start, wide);
  return /[0-9]/.test(id) && /[a-z]/.test(id) && /[A-Z]/.test(id) ? token(start, wide, 'nanoid') : undefined;
};

const numberAt = (text: string, start: number): Token | undefined => {
  if (!isDigit(text.charCodeAt(start))) return undefined;
  const duration = endOf(DURATION, text, start);
  if (duration !== -1) return token(start, duration, 'duration');
  const size = endOf(SIZE, text, start);
  if (size !== -1) return token(start, size, 'size');
  const number = endOf(NUMBER, text, start);
  if (number === -1) return undefined;
  const named = NAME_BEFORE.exec(text.slice(Math.max(0, start - MOST_NAMED), start).toLowerCase());
  if (named === null) return undefined;
  return token(start, number, named[2] !== undefined ? 'pid' : named[4] === undefined ? 'port' : 'duration');
};

/** Where the root of a path ends that begins there; -1: none does. */
const pathEnd = (text: string, start: number, roots: readonly string[]): number => {
  const before = codeBefore(text, start);
  if (isWide(before) || before === 46) return -1;
  for (const root of roots)
    if (text.startsWith(root, start)) {
      const end = start + root.length;
      if (!isWide(text.charCodeAt(end))) return end;
    }
  return text.charCodeAt(start) === SLASH ? endOf(TEMP, text, start) : endOf(WINDOWS_TEMP, text, start);
};

const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
};

const token = (start: number, end: number, kind: ValueKind): Token => ({
  start,
  end,
  kind,
  mask: null,
  time: null,
});

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Letters, digits, `_` and `-`. */
const isWide = (code: number): boolean =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 45;
