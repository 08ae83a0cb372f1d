import { NODE_KIND } from '@stemma/context-tree';
import { COMPARE, coreAttribute, readerOf, type Actual, type Asked } from './attributes.ts';
import type { Attribute, Compound, Root, TypeName } from './syntax.ts';

/** A compound as closures over the tree that is asked. */
export type Matcher = {
  /** Does it match the node with this index? */
  readonly node: (index: number) => boolean;
  /** Does it match the implicit core of the turn (or `^ah`) with this index? Null: no implicit core ever (§10.28). */
  readonly core: ((turn: number) => boolean) | null;
  /** The only node it can match, by its root or the id index; undefined: it names none, null: there is no such node. */
  readonly only: number | null | undefined;
  /** How many questions one node costs, to bound what hostile selectors can ask. */
  readonly cost: number;
};

type Test = (index: number) => boolean;

export const compile = (compound: Compound, asked: Asked): Matcher => {
  if (compound.kind !== 'node') return { node: () => true, core: null, only: undefined, cost: 1 };
  const { root, id, type, attributes } = compound;
  const tests: Test[] = [];
  if (type !== null) tests.push(typeTest(type, asked));
  for (const attribute of attributes) {
    const read = readerOf(attribute.key);
    tests.push((index) => holds(attribute, read(asked, index)));
  }
  const plainCore = root === null && id === null && type?.name === 'mc' && type.sub === null;
  return {
    node: (index) => tests.every((test) => test(index)),
    core: plainCore
      ? (turn) => attributes.every((each) => holds(each, coreAttribute(asked, turn, each.key)))
      : null,
    only: onlyOf(root, id, asked),
    cost: tests.length + 1,
  };
};

const holds = (attribute: Attribute, actual: Actual): boolean =>
  attribute.op === null
    ? actual !== null && actual !== undefined
    : (COMPARE[attribute.op]?.(actual, attribute.value) ?? false);

const onlyOf = (root: Root | null, id: string | null, { tree }: Asked): number | null | undefined => {
  const ofRoot =
    root === null ? undefined : { '^root': 0, '^sys': tree.sys, '^seq': tree.seq, '^ah': tree.ah }[root];
  if (id === null) return ofRoot;
  const ofId = tree.indexOf(id) ?? null;
  return ofRoot === undefined || ofRoot === ofId ? ofId : null;
};

const CANONICAL: Readonly<Record<string, number>> = {
  mt: NODE_KIND.turn,
  mc: NODE_KIND.container,
  cb: NODE_KIND.block,
};

/** `.cb` is every block, `.cb:summary` a `cb` of that kind or a node of that very type (context-tree §6, §10.1). */
const typeTest = ({ name, sub }: TypeName, { tree }: Asked): Test => {
  if (sub === null) {
    const kind = Object.hasOwn(CANONICAL, name) ? CANONICAL[name] : undefined;
    return (index) => tree.kinds[index] === kind;
  }
  const full = `${name}:${sub}`;
  return (index) => {
    const headers = tree.headers[index];
    return headers?.nodeType === full || (headers?.nodeType === name && headers.kind === sub);
  };
};
