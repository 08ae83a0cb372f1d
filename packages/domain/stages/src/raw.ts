import { defined } from '@stemma/values';
import { compareExact } from './code-points.ts';
import type { ExactJson } from './exact-json.ts';

export const SCHEMA_VERSION = '0.1';

/** RAW: the inventory of a stream, in counts and hashes. */
export type RawStage = {
  readonly schema_version: string;
  readonly node_count: number;
  readonly event_count: number;
  readonly node_hash: string;
  readonly kind_counts: { readonly [kind: string]: number };
  readonly prompt_summary?: ExactJson;
};

/** RAW from the facts of a stream, which is not read. `kinds` in any order. */
export const rawStage = (
  nodeCount: number,
  nodeHash: string,
  kinds: Iterable<readonly [kind: string, count: number]>,
  promptSummary: ExactJson = null,
): RawStage => ({
  schema_version: SCHEMA_VERSION,
  node_count: nodeCount,
  event_count: nodeCount,
  node_hash: nodeHash,
  kind_counts: Object.fromEntries([...kinds].sort(([a], [b]) => compareExact(a, b))),
  ...defined({ prompt_summary: promptSummary ?? undefined }),
});

/** The number of nodes of each kind. */
export const countKinds = (nodes: readonly { readonly kind: string }[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { kind } of nodes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};
