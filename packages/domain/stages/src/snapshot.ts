import type { NodeFacts } from './describe-node.ts';
import { nodeHashOf } from './node-hash.ts';
import type { Profile } from './profile.ts';
import { SCHEMA_VERSION } from './raw.ts';

/** The summary that the engine writes beside a log. */
export type StreamSnapshot = {
  readonly schema_version: string;
  readonly node_count: number;
  readonly event_count: number;
  readonly last_id: string | null;
  readonly node_hash: string;
};

export const snapshotOf = (profile: Profile, nodes: readonly NodeFacts[]): StreamSnapshot => ({
  schema_version: SCHEMA_VERSION,
  node_count: nodes.length,
  event_count: nodes.length,
  last_id: nodes.at(-1)?.id ?? null,
  node_hash: nodeHashOf(profile, nodes),
});
