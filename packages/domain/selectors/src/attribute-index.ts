import type { FlatTree } from '@stemma/context-tree';
import { isKnown, readerOf, type AttributeSource } from './attributes.ts';
import { codeOfNode } from './codes.ts';
import { comparison, type Actual } from './compare.ts';
import type { Attribute } from './syntax.ts';

/** Nodes by the value of one attribute: it answers questions about few nodes without a scan. */
export type AttributeIndex = {
  /** The codes of the nodes of a kind that match, ascending; undefined if a scan is as fast. */
  matching(attribute: Attribute, kind: number | undefined): Int32Array | undefined;
};

type Posting = { readonly actual: Actual; readonly nodes: number[] };
type Key = string | number | bigint;

/** An ordering is asked of every distinct value: of more than this a scan is as good. */
const MOST_VALUES = 1_024;
/** The most cached answers to orderings. */
const MOST_KEPT = 16;

/** Reads one attribute, which must need no payload, off every node. */
export const attributeIndex = (tree: FlatTree, key: string): AttributeIndex => {
  const asked: AttributeSource = { tree, payloads: () => ({}), appeared: () => 0 };
  const read = readerOf(key);
  const postings = new Map<Key, Posting>();
  const structured: number[] = [];
  for (let i = 0; i < tree.count; i++) {
    const actual = read(asked, i);
    if (actual === null || actual === undefined) continue;
    if (typeof actual === 'object') {
      structured.push(i);
      continue;
    }
    const posting = postings.get(keyOf(actual));
    if (posting === undefined) postings.set(keyOf(actual), { actual, nodes: [i] });
    else posting.nodes.push(i);
  }
  const kept = new Map<string, Int32Array | undefined>();
  const union = (lists: readonly (readonly number[])[]): Int32Array | undefined => {
    const size = lists.reduce((sum, list) => sum + list.length, 0);
    if (size > tree.count / 8 && lists.length > 1) return undefined;
    const nodes = new Int32Array(size);
    let at = 0;
    for (const list of lists) {
      nodes.set(list, at);
      at += list.length;
    }
    return lists.length === 1 ? nodes : nodes.sort((a, b) => a - b);
  };
  const equal = (value: Attribute['value']): Int32Array =>
    Int32Array.from(value === null ? [] : (postings.get(keyOf(value))?.nodes ?? []));
  const ordered = (attribute: Attribute): Int32Array | undefined => {
    if (postings.size > MOST_VALUES) return undefined;
    const holds = comparison(attribute, isKnown(key));
    return union([...postings.values()].filter(({ actual }) => holds(actual)).map(({ nodes }) => nodes));
  };
  const present = (): Int32Array | undefined =>
    postings.size > MOST_VALUES
      ? undefined
      : union([...[...postings.values()].map(({ nodes }) => nodes), structured]);

  return {
    matching(attribute, kind) {
      const { op, value } = attribute;
      if (op === '=' && value === null) return undefined;
      if (op === '!=' && value !== null) return undefined;
      // A list of texts is not among the values.
      if (op === '*=' && structured.length > 0) return undefined;
      const name = `${kind ?? ''}${op === null ? '' : `${op}${typeof value}${String(value)}`}`;
      if (!kept.has(name)) {
        if (kept.size >= MOST_KEPT) kept.clear();
        const nodes = op === '=' ? equal(value) : op === null || op === '!=' ? present() : ordered(attribute);
        kept.set(name, nodes && codesOf(nodes, kind, tree));
      }
      return kept.get(name);
    },
  };
};

/** The codes of those nodes that are of a kind. */
export const codesOf = (nodes: Int32Array, kind: number | undefined, { kinds }: FlatTree): Int32Array => {
  const codes = new Int32Array(nodes.length);
  let size = 0;
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as number;
    if (kind === undefined || kinds[node] === kind) codes[size++] = codeOfNode(node);
  }
  return codes.subarray(0, size);
};

/** Equal for values that compare as equal: booleans as their words, integers whatever their type. */
const keyOf = (value: string | number | bigint | boolean): Key => {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
};
