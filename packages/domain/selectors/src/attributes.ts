import {
  depthAt,
  contentHash,
  isoTime,
  NODE_KIND,
  type FlatTree,
  type Payload,
  type PayloadSource,
} from '@stemma/context-tree';
import type { Actual } from './compare.ts';

/** The tree of a query, and the source of its nodes' payloads. */
export type AttributeSource = {
  readonly tree: FlatTree;
  readonly payloads: PayloadSource;
  /** The cycle of the first snapshot on the ancestor path that has the node with this index. */
  readonly appeared: (index: number) => number;
  /** Counts so many tests of nodes. @throws E_SELECTOR_INVALID when it is too much */
  readonly spend?: (tests: number) => void;
};

export type ReadAttribute = (asked: AttributeSource, index: number) => Actual;

/** An attribute that is not simply in the payload. `cheap`: nothing but the tree is needed, and reading it costs nothing. */
type Known = { readonly read: ReadAttribute; readonly cheap: boolean };

const header = (name: keyof FlatTree['headers'][number]): Known => ({
  read: ({ tree }, index) => tree.headers[index]?.[name],
  cheap: true,
});

/** The attributes with a meaning of their own (context-tree §2, §6). A new one is a new line. */
const KNOWN: Readonly<Record<string, Known>> = {
  id: header('id'),
  nodeType: header('nodeType'),
  offset: header('offset'),
  ttl: { read: ({ tree }, index) => tree.ttls[index], cheap: true },
  priority: header('priority'),
  cycle: header('cycle'),
  born_turn: header('cycle'),
  created_at_ns: header('created_at_ns'),
  created_at_iso: {
    read: ({ tree }, index) => isoTime(tree.headers[index]?.created_at_ns ?? 0n),
    cheap: false,
  },
  creation_index: header('creation_index'),
  role: header('role'),
  kind: header('kind'),
  key: header('key'),
  removable: header('removable'),
  refs: header('refs'),
  provenance: header('provenance'),
  depth: {
    read: ({ tree }, index) => depthAt(tree, index),
    cheap: true,
  },
  age: { read: ({ tree, appeared }, index) => tree.cycle - appeared(index), cheap: false },
  content_hash: {
    read: (asked, index) =>
      asked.tree.kinds[index] === NODE_KIND.block
        ? contentHash(asked.tree.headers[index] ?? {}, payloadAt(asked, index))
        : null,
    cheap: false,
  },
};

const NO_PAYLOAD: Payload = {};

const payloadAt = ({ tree, payloads }: AttributeSource, index: number): Payload => {
  const ref = tree.payloads[index];
  return ref === null || ref === undefined ? NO_PAYLOAD : payloads(ref);
};

const knownOf = (key: string): Known | undefined => (Object.hasOwn(KNOWN, key) ? KNOWN[key] : undefined);

/** The reader of an attribute. An unknown name is null on every node (context-tree §10.31). */
export const readerOf = (key: string): ReadAttribute =>
  knownOf(key)?.read ??
  ((asked, index) => {
    const payload = payloadAt(asked, index);
    return Object.hasOwn(payload, key) ? payload[key] : null;
  });

/** The content of a node; null if it has none. */
export const contentAt: ReadAttribute = readerOf('content');

/** True for an attribute whose values have a type of their own, so that orderings convert nothing (context-tree §10.29). */
export const isKnown = (key: string): boolean => knownOf(key) !== undefined;

/** True for an attribute that is read from the tree alone, at no cost. */
export const isCheap = (key: string): boolean => knownOf(key)?.cheap ?? false;

/** An implicit core has these attributes and no other (context-tree §10.28); `turn` is the node it belongs to. */
export const coreAttribute = ({ tree }: AttributeSource, turn: number, key: string): Actual =>
  key === 'nodeType' ? 'mc' : key === 'offset' ? 0 : key === 'depth' ? tree.depths[turn] : null;
