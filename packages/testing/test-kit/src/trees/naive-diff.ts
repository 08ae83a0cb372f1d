import { canonicalJson, type WideJson } from '@stemma/canonical';
import { contentHash, isoTime, NODE_KIND, type FlatTree, type PayloadSource } from '@stemma/context-tree';

/** Every field of a node that a diff speaks of, as text (context-tree §7). */
const fieldsOf = (tree: FlatTree, i: number, source: PayloadSource): ReadonlyMap<string, string> => {
  const ref = tree.payloads[i] ?? null;
  const payload = ref === null ? {} : source(ref);
  const block = tree.kinds[i] === NODE_KIND.block;
  const headers = tree.headers[i] as FlatTree['headers'][number];
  const all: Record<string, WideJson | undefined> = {
    ...headers,
    created_at_iso: isoTime(headers.created_at_ns),
    ttl: tree.ttls[i],
    parent: tree.ids[tree.parents[i] as number] ?? null,
  };
  for (const [name, value] of Object.entries(payload))
    if (!(block && (name === 'content' || /^(content|data)_/.test(name)))) all[name] = value;
  if (block) all['content_hash'] = contentHash(headers, payload);
  return new Map(
    Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, canonicalJson(value)] as const],
    ),
  );
};

/** The diff of two full trees by comparing every field of every node, one line for each difference, sorted. */
export const naiveDiff = (a: FlatTree | null, b: FlatTree, source: PayloadSource): string[] => {
  const lines: string[] = [];
  for (const [i, id] of b.ids.entries()) {
    const k = a?.indexOf(id);
    if (a === null || k === undefined) {
      lines.push(`+ ${id}`);
      continue;
    }
    const [was, is] = [fieldsOf(a, k, source), fieldsOf(b, i, source)];
    for (const name of new Set([...was.keys(), ...is.keys()]))
      if (was.get(name) !== is.get(name)) lines.push(`~ ${id} ${name}`);
  }
  for (const id of a?.ids ?? []) if (b.indexOf(id) === undefined) lines.push(`- ${id}`);
  return lines.sort((x, y) => (x < y ? -1 : 1));
};
