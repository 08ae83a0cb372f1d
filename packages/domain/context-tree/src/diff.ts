import { canonicalJson, compareCodePoints, type WideJson } from '@stemma/canonical';
import { contentHash, isContentAttribute } from './content-hash.ts';
import { NODE_KIND, type FlatTree } from './flat-tree.ts';
import type { Headers, Payload, PayloadSource } from './node.ts';

/** What differs between two trees: exactly these keys (PACT 05 §4.3). */
export type TreeDiff = {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly fields: readonly string[] }[];
};

/**
 * The difference of two positions, `a` the older one (context-tree §7), by id: added and changed ids in the canonical
 * order of `b`, removed ids in that of `a`; ageing shows as `ttl`.
 *
 * @param only restricts the diff to these ids.
 * @throws Missing (payloads) for nodes whose content was replaced in between.
 */
export const diffTrees = (
  a: FlatTree,
  b: FlatTree,
  source: PayloadSource,
  only?: ReadonlySet<string>,
): TreeDiff => {
  const changed: { id: string; fields: readonly string[] }[] = [];
  const added: string[] = [];
  for (const i of indexesOf(b, only)) {
    const id = b.ids[i] as string;
    const before = a.indexOf(id);
    if (before === undefined) added.push(id);
    else {
      const fields = changedFields(a, before, b, i, source);
      if (fields.length > 0) changed.push({ id, fields });
    }
  }
  const removed = indexesOf(a, only).flatMap((i) => {
    const id = a.ids[i] as string;
    return b.indexOf(id) === undefined ? [id] : [];
  });
  return { added, removed, changed };
};

/** The indexes of some nodes of a tree, in its order: what they cost is their number. */
const indexesOf = (tree: FlatTree, only: ReadonlySet<string> | undefined): number[] =>
  only === undefined
    ? Array.from(tree.ids.keys())
    : [...only].flatMap((id) => tree.indexOf(id) ?? []).sort((x, y) => x - y);

const HEADERS = [
  'cycle',
  'created_at_ns',
  'creation_index',
  'key',
  'kind',
  'nodeType',
  'offset',
  'priority',
  'provenance',
  'refs',
  'removable',
  'role',
] as const satisfies readonly (keyof Headers)[];

/**
 * The names of the fields in which the node at `i` of `a` differs from the node at `k` of `b`, sorted. @throws Missing
 * (payloads)
 */
export const changedFields = (
  a: FlatTree,
  i: number,
  b: FlatTree,
  k: number,
  source: PayloadSource,
): string[] => {
  const x = a.headers[i] as Headers;
  const y = b.headers[k] as Headers;
  const fields: string[] = [];
  if (x !== y) for (const name of HEADERS) if (!sameJson(x[name], y[name])) fields.push(name);
  if (x.created_at_ns !== y.created_at_ns) fields.push('created_at_iso');
  if (a.ttls[i] !== b.ttls[k]) fields.push('ttl');
  if (parentId(a, i) !== parentId(b, k)) fields.push('parent');
  fields.push(...changedAttributes(a, i, b, k, source, fields));
  return fields.sort(compareCodePoints);
};

const changedAttributes = (
  a: FlatTree,
  i: number,
  b: FlatTree,
  k: number,
  source: PayloadSource,
  headers: readonly string[],
): string[] => {
  const block = b.kinds[k] === NODE_KIND.block;
  const before = a.payloads[i] ?? null;
  const after = b.payloads[k] ?? null;
  const samePayload = before?.seq === after?.seq && before?.index === after?.index;
  if (samePayload && !(block && (headers.includes('role') || headers.includes('kind')))) return [];
  const x: Payload = before === null ? {} : source(before);
  const y: Payload = after === null ? {} : source(after);
  const fields: string[] = [];
  if (block && contentHash(a.headers[i] as Headers, x) !== contentHash(b.headers[k] as Headers, y))
    fields.push('content_hash');
  for (const name of new Set([...Object.keys(x), ...Object.keys(y)]))
    if (!(block && (name === 'content' || isContentAttribute(name))) && !sameJson(x[name], y[name]))
      fields.push(name);
  return fields;
};

const parentId = (tree: FlatTree, index: number): string | undefined =>
  tree.ids[tree.parents[index] as number];

const sameJson = (a: WideJson | undefined, b: WideJson | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    typeof a === 'object' &&
    typeof b === 'object' &&
    canonicalJson(a) === canonicalJson(b));
