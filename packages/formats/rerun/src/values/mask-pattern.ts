import { fail } from '@stemma/errors';
import type { Mask } from './masks.ts';
import type { MaskMatcher, Token } from './token.ts';

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
  const part = partOf(mask);
  const machine = machineOf(mask, part);
  if (isAtEnd(machine.states, machine.begin)) throw refused(mask, 'it matches an empty text');
  const forwards = openAutomaton(machine, false);
  const backwards = openAutomaton(machineOf(mask, reversed(part)), true);
  return { name: mask.name, in: mask.in, find: (text) => matchesIn(forwards, backwards, mask.name, text) };
};

const refused = (mask: Mask, why: string): Error =>
  fail('E_INPUT_SHAPE', `the pattern of the mask ${mask.name} cannot be used: ${why}`);

const isAtEnd = (states: readonly State[], at: readonly number[]): boolean =>
  at.some((index) => states[index]?.what === 'end');

/** Read backwards, a text says in one go where matches begin; from these on the longest is looked for. */
const matchesIn = (
  forwards: Automaton,
  backwards: Automaton,
  name: string,
  text: string,
): readonly Token[] => {
  const begins: number[] = [];
  let state = backwards.begin();
  for (let at = text.length - 1; at >= 0; at--) {
    state = backwards.step(state, text[at] as string);
    if (backwards.isEnd(state)) begins.push(at);
  }
  const found: Token[] = [];
  let done = 0;
  for (const start of begins.reverse()) {
    const end = start < done ? -1 : longestFrom(forwards, text, start);
    if (end === -1) continue;
    found.push({ start, end, kind: 'mask', mask: name, time: null });
    done = end;
  }
  return found;
};

/** Where the longest match that begins at a place ends; -1: none does. */
const longestFrom = (forwards: Automaton, text: string, start: number): number => {
  let state = forwards.begin();
  let longest = -1;
  for (let at = start; at < text.length && at < start + MOST_CHARACTERS; at++) {
    state = forwards.step(state, text[at] as string);
    if (forwards.isDead(state)) break;
    if (forwards.isEnd(state)) longest = at + 1;
  }
  return longest;
};

/** Sets of states of a machine, of which each step is worked out once. */
type Automaton = {
  readonly begin: () => number;
  readonly step: (set: number, character: string) => number;
  readonly isEnd: (set: number) => boolean;
  readonly isDead: (set: number) => boolean;
};

/** So many sets are remembered; then they are worked out anew. */
const MOST_SETS = 2_000;

type StateSet = {
  readonly states: readonly number[];
  readonly isEnd: boolean;
  readonly steps: Map<string, number>;
};

/** @param isAnywhere whether a match may begin at every character */
const openAutomaton = ({ states, begin }: Machine, isAnywhere: boolean): Automaton => {
  let sets: StateSet[] = [];
  let known = new Map<string, number>();
  const numberOf = (reached: readonly number[]): number => {
    const key = [...reached].sort((a, b) => a - b).join();
    const found = known.get(key);
    if (found !== undefined) return found;
    if (sets.length >= MOST_SETS) {
      sets = [];
      known = new Map();
    }
    known.set(key, sets.length);
    return sets.push({ states: reached, isEnd: isAtEnd(states, reached), steps: new Map() }) - 1;
  };
  return {
    begin: () => numberOf(begin),
    step: (set, character) => {
      const from = sets[set] as StateSet;
      const next = from.steps.get(character);
      if (next !== undefined) return next;
      const taken = from.states.flatMap((index) => {
        const state = states[index];
        return state?.what === 'take' && state.matches(character) ? [state.next] : [];
      });
      const isFull = sets.length >= MOST_SETS;
      const reached = numberOf(followed(states, isAnywhere ? [...taken, ...begin] : taken));
      // What was remembered before all was forgotten names no set any more.
      if (!isFull) from.steps.set(character, reached);
      return reached;
    },
    isEnd: (set) => sets[set]?.isEnd === true,
    isDead: (set) => sets[set]?.states.length === 0,
  };
};

const reversed = (part: Part): Part => {
  switch (part.what) {
    case 'character':
      return part;
    case 'repeat':
      return { ...part, part: reversed(part.part) };
    case 'choice':
      return { ...part, parts: part.parts.map(reversed) };
    case 'sequence':
      return { ...part, parts: part.parts.map(reversed).reverse() };
  }
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

const machineOf = (mask: Mask, whole: Part): Machine => {
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
  const first = build(whole, 0);
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
