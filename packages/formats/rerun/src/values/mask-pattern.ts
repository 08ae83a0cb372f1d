import { fail } from '@stemma/errors';
import type { Mask } from './masks.ts';
import type { Token } from './tokens.ts';

/** A mask that finds its values in a text. */
export type MaskMatcher = {
  readonly name: string;
  readonly in: Mask['in'];
  readonly find: (text: string) => readonly Token[];
};

/** The most characters that one match has. */
const MOST_CHARACTERS = 256;
/** The most states of a pattern: each character of a text costs at most as many steps. */
const MOST_STATES = 1_000;
const MOST_REPEATS = 256;

/** What a pattern is, as a tree. */
type Part =
  | { readonly what: 'character'; readonly matches: (character: string) => boolean }
  | { readonly what: 'sequence'; readonly parts: readonly Part[] }
  | { readonly what: 'choice'; readonly parts: readonly Part[] }
  | { readonly what: 'repeat'; readonly part: Part; readonly least: number; readonly most: number };

/** A state of the machine that the pattern becomes: it takes a character, goes on to others, or is the end. */
type State =
  | { readonly what: 'take'; readonly matches: (character: string) => boolean; readonly next: number }
  | { readonly what: 'split'; readonly next: readonly number[] }
  | { readonly what: 'end' };

/** `begin`: the states in which every search begins. */
type Machine = { readonly states: readonly State[]; readonly begin: readonly number[] };

/**
 * A mask whose search takes a time that grows with the text alone: the pattern is run as a state machine that never goes back
 * (Thompson 1968), and of the matches at a place the longest counts.
 *
 * @throws E_INPUT_SHAPE if the pattern is none, is too large, or matches nothing at all
 */
export const maskMatcher = (mask: Mask): MaskMatcher => {
  const machine = machineOf(mask);
  if (isAtEnd(machine.states, machine.begin)) throw refused(mask, 'it matches an empty text');
  return { name: mask.name, in: mask.in, find: (text) => matchesIn(machine, mask.name, text) };
};

const refused = (mask: Mask, why: string): Error =>
  fail('E_INPUT_SHAPE', `the pattern of the mask ${mask.name} cannot be used: ${why}`);

const isAtEnd = (states: readonly State[], at: readonly number[]): boolean =>
  at.some((index) => states[index]?.what === 'end');

const matchesIn = (machine: Machine, name: string, text: string): readonly Token[] => {
  const found: Token[] = [];
  for (let start = 0; start < text.length;) {
    const end = longestFrom(machine, text, start);
    if (end > start) {
      found.push({ start, end, kind: 'mask', mask: name, time: null });
      start = end;
    } else start++;
  }
  return found;
};

/** Where the longest match that begins at a place ends; -1: none does. */
const longestFrom = ({ states, begin }: Machine, text: string, start: number): number => {
  let now = begin;
  let longest = -1;
  for (let at = start; at < text.length && at < start + MOST_CHARACTERS; at++) {
    const character = text[at] as string;
    const next: number[] = [];
    for (const index of now) {
      const state = states[index];
      if (state?.what === 'take' && state.matches(character)) next.push(state.next);
    }
    if (next.length === 0) break;
    now = followed(states, next);
    if (isAtEnd(states, now)) longest = at + 1;
  }
  return longest;
};

/** The states that take a character or end, to which these lead without one. */
const followed = (states: readonly State[], from: readonly number[]): readonly number[] => {
  const seen = new Set<number>();
  const open = [...from].reverse();
  const reached: number[] = [];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (seen.has(index)) continue;
    seen.add(index);
    const state = states[index] as State;
    if (state.what === 'split') open.push(...[...state.next].reverse());
    else reached.push(index);
  }
  return reached;
};

const machineOf = (mask: Mask): Machine => {
  const states: State[] = [{ what: 'end' }];
  let steps = 0;
  const add = (state: State): number => states.push(state) - 1;
  /** Adds what leads to `next`; the number of its first state. */
  const build = (part: Part, next: number): number => {
    if (states.length > MOST_STATES || ++steps > 10 * MOST_STATES)
      throw refused(mask, `it has more than ${MOST_STATES} states`);
    switch (part.what) {
      case 'character':
        return add({ what: 'take', matches: part.matches, next });
      case 'sequence':
        return part.parts.reduceRight((after, inner) => build(inner, after), next);
      case 'choice':
        return add({ what: 'split', next: part.parts.map((inner) => build(inner, next)) });
      case 'repeat':
        return repeat(part, next);
    }
  };
  const repeat = ({ part, least, most }: Extract<Part, { what: 'repeat' }>, next: number): number => {
    let after = next;
    if (most === Infinity) {
      const ways = [next];
      after = add({ what: 'split', next: ways });
      ways.unshift(build(part, after));
    } else
      for (let i = least; i < most; i++) after = add({ what: 'split', next: [build(part, after), next] });
    for (let i = 0; i < least; i++) after = build(part, after);
    return after;
  };
  const first = build(partOf(mask), 0);
  return { states, begin: followed(states, [first]) };
};

const CLASSES: Readonly<Record<string, RegExp>> = {
  d: /[0-9]/,
  D: /[^0-9]/,
  w: /[A-Za-z0-9_]/,
  W: /[^A-Za-z0-9_]/,
  s: /\s/,
  S: /\S/,
};

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** The pattern as a tree. @throws E_INPUT_SHAPE */
const partOf = (mask: Mask): Part => {
  const { pattern } = mask;
  if (pattern.length > MOST_STATES) throw refused(mask, `it has more than ${MOST_STATES} characters`);
  let at = 0;
  const choice = (): Part => {
    const parts = [sequence()];
    while (pattern[at] === '|') {
      at++;
      parts.push(sequence());
    }
    return parts.length === 1 ? (parts[0] as Part) : { what: 'choice', parts };
  };
  const sequence = (): Part => {
    const parts: Part[] = [];
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') parts.push(repeated(single()));
    return { what: 'sequence', parts };
  };
  const single = (): Part => {
    const character = pattern[at++] as string;
    switch (character) {
      case '(': {
        if (pattern.startsWith('?:', at)) at += 2;
        else if (pattern[at] === '?') throw refused(mask, 'groups with a question mark are not known');
        const inner = choice();
        if (pattern[at++] !== ')') throw refused(mask, 'a group does not end');
        return inner;
      }
      case '[':
        return { what: 'character', matches: set() };
      case '.':
        return { what: 'character', matches: (each) => each !== '\n' };
      case '\\':
        return { what: 'character', matches: escape() };
      case '^':
      case '$':
      case '*':
      case '+':
      case '?':
      case '{':
        throw refused(mask, `${character} is not known at character ${at}; write \\${character} for itself`);
      default:
        return { what: 'character', matches: (each) => each === character };
    }
  };
  const escape = (): ((character: string) => boolean) => {
    const letter = pattern[at++];
    if (letter === undefined) throw refused(mask, 'it ends in a backslash');
    const known = CLASSES[letter];
    if (known !== undefined) return (character) => known.test(character);
    if (/[A-Za-z0-9]/.test(letter) && ESCAPED[letter] === undefined)
      throw refused(mask, `\\${letter} is not known`);
    const own = ESCAPED[letter] ?? letter;
    return (character) => character === own;
  };
  const set = (): ((character: string) => boolean) => {
    const isNot = pattern[at] === '^';
    if (isNot) at++;
    const tests: ((character: string) => boolean)[] = [];
    while (pattern[at] !== ']') {
      if (at >= pattern.length) throw refused(mask, 'a class does not end');
      const first = pattern[at++] as string;
      if (first === '\\') tests.push(escape());
      else if (pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']') {
        const last = pattern[at + 1] as string;
        at += 2;
        if (last === '\\' || last < first) throw refused(mask, `${first}-${last} is no range`);
        tests.push((character) => character >= first && character <= last);
      } else tests.push((character) => character === first);
    }
    at++;
    return (character) => tests.some((test) => test(character)) !== isNot;
  };
  const repeated = (part: Part): Part => {
    const sign = pattern[at];
    if (sign === '*' || sign === '+' || sign === '?') {
      at++;
      const [least, most] = sign === '*' ? [0, Infinity] : sign === '+' ? [1, Infinity] : [0, 1];
      return repeated({ what: 'repeat', part, least, most });
    }
    const counts = /^\{(\d{1,4})(?:(,)(\d{0,4}))?\}/.exec(pattern.slice(at, at + 12));
    if (counts === null) return part;
    at += counts[0].length;
    const least = Number(counts[1]);
    const most = counts[2] === undefined ? least : counts[3] === '' ? Infinity : Number(counts[3]);
    if (most < least || least > MOST_REPEATS || (most !== Infinity && most > MOST_REPEATS))
      throw refused(mask, `${counts[0]} repeats more often than ${MOST_REPEATS} times, or backwards`);
    return repeated({ what: 'repeat', part, least, most });
  };
  const part = choice();
  if (at < pattern.length) throw refused(mask, 'a bracket has no beginning');
  return part;
};
