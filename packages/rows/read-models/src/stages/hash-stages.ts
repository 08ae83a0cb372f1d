import { sha256Hex } from '@stemma/canonical';
import { NODE_KINDS } from './stream-node.ts';

const BY_NAME = NODE_KINDS.map((kind, i) => ({ kind, i })).sort((a, b) => (a.kind < b.kind ? -1 : 1));

/**
 * The hash of the stage RAW of a stream: lower-case hex.
 *
 * @param kindCounts how many nodes of each kind it has, in the order of NODE_KINDS
 */
export const hashRaw = (kindCounts: readonly number[], nodeHash: string): string => {
  const count = kindCounts.reduce((sum, some) => sum + some, 0);
  let kinds = '';
  for (const { kind, i } of BY_NAME) {
    const some = kindCounts[i] as number;
    if (some > 0) kinds += `${kinds === '' ? '' : ','}"${kind}":${some}`;
  }
  return sha256Hex(
    `{"event_count":${count},"kind_counts":{${kinds}},"node_count":${count},"node_hash":"${nodeHash}","schema_version":"0.1"}`,
  );
};
