import { canonicalJson } from '@stemma/canonical';
import type {
  EventRef,
  FixedName,
  FixedRecord,
  Headers,
  NodeLocation,
  NodeRecord,
  TreeParts,
  TurnRecord,
} from '@stemma/context-tree';

/*
 * A row's checksum says that it is what was written, not that it is there. So the metadata of a position has the sum of
 * one number for each record that lives there: every frame adds what it wrote and takes away what it replaced, and a
 * reader adds up what it found. A row that is missing, a tombstone too, or an older one in its place makes another sum, but
 * for one case in 2^32. Contents are not in it: a record names the event, and the log has its hash.
 */

/** The sum of all records of a position, below 2^32. */
export const sumOfRecords = ({ fixed, turns, nodes }: TreeParts): number => {
  let sum = sumOfNodes(turns, sumOfNodes(nodes));
  for (const name of FIXED) sum = (sum + numberOfFixed(name, fixed[name])) | 0;
  return sum >>> 0;
};

/** The sum of nodes or turns, added to that of others, below 2^32. */
export const sumOfNodes = (records: Iterable<NodeRecord | TurnRecord>, others = 0): number => {
  let sum = others;
  for (const record of records) sum = (sum + numberOfNode(record)) | 0;
  return sum >>> 0;
};

export const FIXED: readonly FixedName[] = ['root', 'sys', 'seq', 'ah'];

/** The number of a node or turn. */
export const numberOfNode = (record: NodeRecord | TurnRecord): number => {
  let hash = addLocation('parent' in record ? 1 : 2, record.location);
  hash = addText(hash, 'parent' in record ? record.parent : undefined);
  hash = addNumber(hash, record.expires);
  return addHeaders(addRef(hash, record.payload), record.headers);
};

/** The number of the root or a region. */
export const numberOfFixed = (name: FixedName, { headers, payload }: FixedRecord): number =>
  addHeaders(addRef(addText(3, name), payload), headers);

/** Odd, so that no two hashes become one. */
const FACTOR = 0x9e37_79b1;
const NOTHING = -1;
const NULL = -2;

const add = (hash: number, value: number): number => {
  const next = Math.imul(hash ^ value, FACTOR);
  return next ^ (next >>> 15);
};

const addText = (hash: number, text: string | null | undefined): number => {
  if (text === undefined) return add(hash, NOTHING);
  if (text === null) return add(hash, NULL);
  for (let i = 0; i < text.length; i++) hash = add(hash, text.charCodeAt(i));
  return add(hash, text.length);
};

const addNumber = (hash: number, value: number | null): number => {
  if (value === null) return add(hash, NULL);
  return (value | 0) === value ? add(hash, value) : addText(hash, String(value));
};

const addRef = (hash: number, ref: EventRef | null): number =>
  ref === null ? add(hash, NULL) : addNumber(addNumber(hash, ref.seq), ref.index);

/** The number of the `^sys` location belongs to the rows: a tree has 0 there. */
const addLocation = (hash: number, location: NodeLocation): number =>
  location.kind === 'sys' ? add(hash, NOTHING) : addNumber(addNumber(hash, location.cycle), location.ordinal);

/** All that a frame can change; what a node is made with (its times) follows from its id and its event. */
const addHeaders = (before: number, headers: Headers): number => {
  let hash = addText(before, headers.id);
  hash = addText(hash, headers.nodeType);
  hash = addNumber(hash, headers.offset);
  hash = addNumber(hash, headers.ttl);
  hash = addNumber(hash, headers.priority);
  hash = addNumber(hash, headers.creation_index);
  hash = addText(hash, headers.role);
  hash = addText(hash, headers.kind);
  hash = addText(hash, headers.key);
  const { removable, refs, provenance } = headers;
  hash = add(hash, removable === undefined ? NOTHING : removable === null ? NULL : Number(removable));
  hash = addText(hash, refs === undefined || refs === null ? refs : canonicalJson(refs));
  return addText(hash, provenance === undefined ? undefined : canonicalJson(provenance));
};
