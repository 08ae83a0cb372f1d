import { parseAttribute, parseAttributeGroup, parseQuoted } from './parse-attribute.ts';
import { parseDepths, parseInteger } from './parse-depths.ts';
import { expect, invalid, peek, skipSpace, take, takeMatch, type Scanner } from './scanner.ts';
import {
  PSEUDOS,
  ROOTS,
  type Attribute,
  type Compound,
  type Pseudo,
  type Root,
  type TypeName,
} from './syntax.ts';

const SCOPE = /depth(?=\()/y;
const ROOT = /\^\w*/y;
const ID = /#[\w:-]*/y;
// `#note.1` is an error and not an id with the type `1`, so a type begins with a letter.
const NAME = /[A-Za-z_][\w-]*/y;
const SUB = /[\w-]+/y;

/** Reads what stands between two combinators: `*`, `depth(…)`, or the parts of a node in their order. */
export const parseCompound = (scanner: Scanner): Compound => {
  if (take(scanner, '*')) return { kind: 'any' };
  if (takeMatch(scanner, SCOPE) !== null) return { kind: 'scope', depths: parseDepths(scanner) };
  const start = scanner.at;
  const compound = {
    kind: 'node',
    root: parseRoot(scanner),
    id: parseId(scanner),
    type: parseType(scanner),
    attributes: parseAttributes(scanner),
    pseudos: parsePseudos(scanner),
  } as const;
  if (scanner.at === start) throw invalid(scanner, 'a selector such as ^ah, #id, .cb, [role], :first or *');
  return compound;
};

const parseRoot = (scanner: Scanner): Root | null => {
  const start = scanner.at;
  const word = takeMatch(scanner, ROOT);
  if (word === null) return null;
  const root = ROOTS.find((known) => known === word);
  if (root === undefined) throw invalid(scanner, 'one of ^root, ^sys, ^seq, ^ah', start);
  return root;
};

// Greedy: `#cb:u2:first` is the id `cb:u2:first` (context-tree §6).
const parseId = (scanner: Scanner): string | null => {
  const word = takeMatch(scanner, ID);
  if (word === '#') throw invalid(scanner, "an id of letters, digits, _ - : (others are written [id='…'])");
  return word?.slice(1) ?? null;
};

const parseType = (scanner: Scanner): TypeName | null => {
  if (!take(scanner, '.')) return null;
  const name = takeMatch(scanner, NAME);
  if (name === null) throw invalid(scanner, 'the name of a type, such as cb');
  const colon = scanner.at;
  if (take(scanner, ':')) {
    const sub = takeMatch(scanner, SUB);
    if (sub !== null && !Object.hasOwn(PSEUDOS, sub)) return { name, sub };
    scanner.at = colon;
  }
  return { name, sub: null };
};

const parseAttributes = (scanner: Scanner): readonly Attribute[] => {
  const attributes: Attribute[] = peek(scanner) === '(' ? [...parseAttributeGroup(scanner)] : [];
  while (peek(scanner) === '[') attributes.push(parseAttribute(scanner));
  return attributes;
};

const parsePseudos = (scanner: Scanner): readonly Pseudo[] => {
  const pseudos: Pseudo[] = [];
  while (peek(scanner) === ':') pseudos.push(parsePseudo(scanner));
  return pseudos;
};

const parsePseudo = (scanner: Scanner): Pseudo => {
  const start = scanner.at;
  scanner.at += 1;
  const name = takeMatch(scanner, NAME);
  if (name === null || !isPseudo(name))
    throw invalid(scanner, `one of :${Object.keys(PSEUDOS).join(' :')}`, start);
  if (name === 'depth') return { name, depths: parseDepths(scanner) };
  if (name === 'contains') return { name, text: parseInBrackets(scanner, name, parseQuoted) };
  if (name !== 'nth') return { name };
  return { name, n: parseInBrackets(scanner, name, parseCount) };
};

const parseCount = (scanner: Scanner): number => {
  const position = scanner.at;
  const n = parseInteger(scanner);
  if (n < 1) throw invalid(scanner, 'a number from 1', position);
  return n;
};

const parseInBrackets = <T>(scanner: Scanner, name: string, parse: (scanner: Scanner) => T): T => {
  expect(scanner, '(', `after :${name}`);
  skipSpace(scanner);
  const argument = parse(scanner);
  skipSpace(scanner);
  expect(scanner, ')', `to close :${name}(`);
  return argument;
};

const isPseudo = (name: string): name is Pseudo['name'] => Object.hasOwn(PSEUDOS, name);
