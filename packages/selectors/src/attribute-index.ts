import type { FlatTree } from '@stemma/context-tree';
import { comparison, type Actual } from './compare.ts';
import { isKnown, readerOf, type Asked } from './attributes.ts';
import type { Attribute } from './syntax.ts';

/** Nodes by the value of one attribute: what a question about few of them is answered from, without a scan. */
export type AttributeIndex = {
  /** The nodes for which the attribute holds, ascending; undefined where a scan is as good. */
  matching(attribute: Attribute): readonly number[] | undefined;
};

type Posting = { readonly actual: Actual; readonly nodes: number[] };
type Key = string | number | bigint;

/** An ordering is asked of every distinct value: of more than this a scan is as good. */
const MOST_VALUES = 1_024;
/** Answers to orderings that are kept. */
const MOST_KEPT = 16;

/** Reads one attribute, which must need no payload, off every node. */
export const attributeIndex = (tree: FlatTree, key: string): AttributeIndex => {
  const asked: Asked = { tree, payloads: () => ({}), appeared: () => 0 };
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
  const kept = new Map<string, readonly number[] | undefined>();
  const union = (lists: readonly (readonly number[])[]): readonly number[] | undefined => {
    if (lists.length === 1) return lists[0];
    const size = lists.reduce((sum, list) => sum + list.length, 0);
    return size > tree.count / 8 ? undefined : lists.flat().sort((a, b) => a - b);
  };
  const ordered = (attribute: Attribute): readonly number[] | undefined => {
    if (postings.size > MOST_VALUES) return undefined;
    const holds = comparison(attribute, isKnown(key));
    return union([...postings.values()].filter(({ actual }) => holds(actual)).map(({ nodes }) => nodes));
  };
  const present = (): readonly number[] | undefined =>
    postings.size > MOST_VALUES
      ? undefined
      : union([...[...postings.values()].map(({ nodes }) => nodes), structured]);

  return {
    matching(attribute) {
      const { op, value } = attribute;
      if (op === '=') return value === null ? undefined : (postings.get(keyOf(value))?.nodes ?? []);
      if (op === '!=' && value !== null) return undefined;
      const name = op === null ? '' : `${op}${typeof value}${String(value)}`;
      if (!kept.has(name)) {
        if (kept.size >= MOST_KEPT) kept.clear();
        kept.set(name, op === null || op === '!=' ? present() : ordered(attribute));
      }
      return kept.get(name);
    },
  };
};

/** Equal for values that compare as equal: booleans as their words, integers whatever their type. */
const keyOf = (value: string | number | bigint | boolean): Key => {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
};
