import type { WideJson } from '@stemma/canonical';
import {
  contentHash,
  isoTime,
  NO_DEPTH,
  NODE_KIND,
  type FlatTree,
  type Payload,
  type PayloadSource,
} from '@stemma/context-tree';
import type { Operator, Value } from './syntax.ts';

/** A tree that is asked, and where the payloads of its nodes come from. */
export type Asked = { readonly tree: FlatTree; readonly payloads: PayloadSource };

/** What an attribute of a node is: any JSON; undefined counts as null. */
export type Actual = WideJson | undefined;

type Read = (asked: Asked, index: number) => Actual;

const header =
  (name: keyof FlatTree['headers'][number]): Read =>
  ({ tree }, index) =>
    tree.headers[index]?.[name];

/** Every attribute that is not simply in the payload (context-tree §2, §6). A new one is a new line. */
const READERS: Readonly<Record<string, Read>> = {
  id: header('id'),
  nodeType: header('nodeType'),
  offset: header('offset'),
  ttl: ({ tree }, index) => tree.ttls[index],
  priority: header('priority'),
  cycle: header('cycle'),
  born_turn: header('cycle'),
  created_at_ns: header('created_at_ns'),
  created_at_iso: ({ tree }, index) => isoTime(tree.headers[index]?.created_at_ns ?? 0n),
  creation_index: header('creation_index'),
  role: header('role'),
  kind: header('kind'),
  key: header('key'),
  removable: header('removable'),
  refs: header('refs'),
  provenance: header('provenance'),
  depth: ({ tree }, index) => (tree.depths[index] === NO_DEPTH ? null : tree.depths[index]),
  content_hash: (asked, index) =>
    asked.tree.kinds[index] === NODE_KIND.block
      ? contentHash(asked.tree.headers[index] ?? {}, payloadAt(asked, index))
      : null,
};

const NO_PAYLOAD: Payload = {};

const payloadAt = ({ tree, payloads }: Asked, index: number): Payload => {
  const ref = tree.payloads[index];
  return ref === null || ref === undefined ? NO_PAYLOAD : payloads(ref);
};

/** How an attribute is read off a node. A name that nothing has is null everywhere (context-tree §10.31). */
export const readerOf = (key: string): Read =>
  Object.hasOwn(READERS, key) ? (READERS[key] as Read) : (asked, index) => payloadAt(asked, index)[key];

/** An implicit core has these attributes and no other (context-tree §10.28); `turn` is the node it belongs to. */
export const coreAttribute = ({ tree }: Asked, turn: number, key: string): Actual =>
  key === 'nodeType' ? 'mc' : key === 'offset' ? 0 : key === 'depth' ? tree.depths[turn] : null;

/** Every operator that is answered (context-tree §10.29, §10.30). A new one is a new line. */
export const COMPARE: { readonly [op in Operator]?: (actual: Actual, value: Value) => boolean } = {
  '=': (actual, value) => equals(actual ?? null, value),
};

const equals = (actual: Exclude<Actual, undefined>, value: Value): boolean => {
  if (actual === null || value === null) return actual === value;
  if (typeof actual === 'object') return false;
  if (typeof actual === 'boolean' || typeof value === 'boolean') return wordOf(actual) === wordOf(value);
  if (typeof actual === 'string' || typeof value === 'string') return actual === value;
  // A number and a bigint are equal when their values are: what `==` says of them, and `===` does not.
  return actual == value; // eslint-disable-line eqeqeq
};

/** Booleans compare as their words, with texts too; numbers equal no text. */
const wordOf = (value: string | number | bigint | boolean): string | null =>
  typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : null;
