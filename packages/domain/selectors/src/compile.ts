import { NODE_KIND } from '@stemma/context-tree';
import { coreAttribute, isCheap, isKnown, readerOf, type AttributeSource } from './attributes.ts';
import { indexOfCode } from './codes.ts';
import { comparison, workOf } from './compare.ts';
import { depthWindow, filterOf, isCounting, pickOf, type Filter, type Pick } from './pseudos.ts';
import type { Attribute, Compound, TypeName } from './syntax.ts';
import type { TreeIndex } from './tree-index.ts';

/** A compound compiled to closures over one tree. */
export type Matcher = {
  /** The only node that it can match, by its root or its id; undefined: it names none; null: there is no such node. */
  readonly only: number | null | undefined;
  /** The kind of node it matches; undefined: any. */
  readonly kind: number | undefined;
  /** The part of the document where it can match, [from, to) in nodes. */
  readonly window: readonly [number, number];
  /** The attributes that may have an index, and all tests of a node except its kind, cheap ones first. */
  readonly attributes: readonly Attribute[];
  readonly tests: readonly Test[];
  /** Tests of an implicit core; null: it never matches one (context-tree §10.28). */
  readonly core: readonly Filter[] | null;
  /** The first counting pseudo, and those after it, which see at most one node. */
  readonly pick: Pick | null;
  readonly rest: readonly (Filter | Pick)[];
  readonly restCounts: readonly boolean[];
};

/** A test of a node, and the attribute that it tests, if any. */
export type Test = { readonly holds: Filter; readonly of: Attribute | null };

type Node = Extract<Compound, { kind: 'node' }>;

const ANY: Node = { kind: 'node', root: null, id: null, type: null, attributes: [], pseudos: [] };

export const compile = (
  compound: Exclude<Compound, { kind: 'scope' }>,
  asked: AttributeSource,
  index: TreeIndex,
): Matcher => {
  const { type, attributes, pseudos, root, id } = compound.kind === 'any' ? ANY : compound;
  const counts = pseudos.findIndex(isCounting);
  const before = counts === -1 ? pseudos : pseudos.slice(0, counts);
  const rest = counts === -1 ? [] : pseudos.slice(counts + 1);
  const filters = before.map((pseudo) => filterOf(pseudo, index, asked));
  const [costly, cheap] = [
    attributes.filter(({ key }) => !isCheap(key)),
    attributes.filter(({ key }) => isCheap(key)),
  ];
  const named = type === null ? null : typeTest(type, asked);
  const plainCore = root === null && id === null && type?.name === 'mc' && type.sub === null;
  return {
    only: onlyOf(compound.kind === 'any' ? ANY : compound, asked, index),
    kind: named?.kind,
    window: windowOf(before, index),
    attributes: cheap,
    tests: [
      ...(named?.test === undefined ? [] : [{ holds: named.test, of: null }]),
      ...cheap.map((of) => ({ holds: attributeTest(of, asked), of })),
      ...filters.map((holds) => ({ holds, of: null })),
      ...costly.map((of) => ({ holds: attributeTest(of, asked), of })),
    ],
    core: plainCore ? [...attributes.map((each) => coreTest(each, asked)), ...filters] : null,
    pick: pseudos[counts] === undefined ? null : pickOf(pseudos[counts]),
    rest: rest.map((pseudo) => (isCounting(pseudo) ? pickOf(pseudo) : filterOf(pseudo, index, asked))),
    restCounts: rest.map(isCounting),
  };
};

const attributeTest = (attribute: Attribute, asked: AttributeSource): Filter => {
  const read = readerOf(attribute.key);
  const holds = comparison(attribute, isKnown(attribute.key));
  if (attribute.op !== '*=') return (code) => holds(read(asked, indexOfCode(code)));
  return (code) => {
    const actual = read(asked, indexOfCode(code));
    asked.spend?.(workOf(actual));
    return holds(actual);
  };
};

const coreTest = (attribute: Attribute, asked: AttributeSource): Filter => {
  const holds = comparison(attribute, isKnown(attribute.key));
  return (code) =>
    holds(coreAttribute(asked, asked.tree.parents[indexOfCode(code)] as number, attribute.key));
};

const onlyOf = (
  { root, id, attributes }: Node,
  { tree }: AttributeSource,
  index: TreeIndex,
): number | null | undefined => {
  const named: (number | null | undefined)[] = [];
  if (root !== null) named.push({ '^root': 0, '^sys': tree.sys, '^seq': tree.seq, '^ah': tree.ah }[root]);
  if (id !== null) named.push(index.find(id) ?? null);
  for (const { key, op, value } of attributes)
    if (key === 'id' && op === '=')
      named.push(typeof value === 'string' ? (index.find(value) ?? null) : null);
  if (named.length === 0) return undefined;
  return named.every((one) => one === named[0]) ? named[0] : null;
};

const windowOf = (pseudos: Node['pseudos'], index: TreeIndex): readonly [number, number] => {
  let [from, to] = [0, index.tree.count];
  for (const pseudo of pseudos) {
    if (pseudo.name !== 'depth') continue;
    const window = depthWindow(pseudo, index);
    [from, to] = [Math.max(from, window[0]), Math.min(to, window[1])];
  }
  return [from, to];
};

const CANONICAL: Readonly<Record<string, number>> = {
  mt: NODE_KIND.turn,
  mc: NODE_KIND.container,
  cb: NODE_KIND.block,
};

/** No node is of this kind. */
const NO_KIND = -1;

/** `.cb` is every block, `.cb:summary` a `cb` of that kind or a node of that very type (context-tree §6, §10.1). */
const typeTest = (
  { name, sub }: TypeName,
  { tree }: AttributeSource,
): { readonly kind: number | undefined; readonly test?: Filter } => {
  if (sub === null) return { kind: Object.hasOwn(CANONICAL, name) ? CANONICAL[name] : NO_KIND };
  const full = `${name}:${sub}`;
  return {
    kind: undefined,
    test: (code) => {
      const headers = tree.headers[indexOfCode(code)];
      return headers?.nodeType === full || (headers?.nodeType === name && headers.kind === sub);
    },
  };
};

/** What is left of the one match that a counting pseudo gave when the pseudos behind it have been applied. */
export const survives = ({ rest, restCounts }: Matcher, code: number): boolean =>
  rest.every((each, i) => (restCounts[i] === true ? (each as Pick)(1) === 0 : (each as Filter)(code)));

/** Whether an implicit core passes all tests, before anything is counted. */
export const passesAsCore = ({ core }: Matcher, code: number): boolean =>
  core !== null && core.every((test) => test(code));
