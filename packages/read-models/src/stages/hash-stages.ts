import { sha256Hex } from '@stemma/canonical';
import type { RunningHashes } from './running-hashes.ts';
import { NODE_KINDS } from './stream-node.ts';

/** Hashes of a snapshot's stages that its rows have: SHA-256, lower-case hex. */
export type SnapshotStageHashes = { readonly nodeHash: string; readonly z1: string };

/** The hashes at this point; more nodes can be added afterwards. */
export const hashesOf = (running: RunningHashes): SnapshotStageHashes => {
  const nodeHash = running.digests.copy().update(']').digest('hex');
  return { nodeHash, z1: sha256Hex(rawText(running, nodeHash)) };
};

const BY_NAME = NODE_KINDS.map((kind, i) => ({ kind, i })).sort((a, b) => (a.kind < b.kind ? -1 : 1));

const rawText = ({ kindCounts, count }: RunningHashes, nodeHash: string): string => {
  let kinds = '';
  for (const { kind, i } of BY_NAME) {
    const some = kindCounts[i] as number;
    if (some > 0) kinds += `${kinds === '' ? '' : ','}"${kind}":${some}`;
  }
  return `{"event_count":${count},"kind_counts":{${kinds}},"node_count":${count},"node_hash":"${nodeHash}","schema_version":"0.1"}`;
};
