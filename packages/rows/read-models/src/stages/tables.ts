import { defineTable } from '@stemma/row-store';
import type { Table } from '@stemma/row-store';

/*
 * Our own histories as streams of nodes, with what the hashes of their stages are made of (compiler-stages), in the profile `stemma-1`.
 * Hashes are SHA-256, 32 bytes. A branch's own nodes come after those of its ancestors up to where it branches off.
 */

export const STREAMS = defineTable({
  name: 'streams',
  about:
    'The node stream of a branch: the branch it goes on from and behind which of its frames, the newest frame that brought nodes, how many nodes there are, the cycle of the newest snapshot, and `chain_hash` as it stands behind them (see `stage_nodes`).',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['parent', 'uint', 'null'],
    ['at', 'uint', 'null'],
    ['seq', 'uint'],
    ['count', 'uint'],
    ['cycle', 'uint'],
    ['chain_hash', 'bytes'],
  ],
});

export const STAGE_NODES = defineTable({
  name: 'stage_nodes',
  about:
    'The nodes of the stream that 64 events of a frame bring: `part` is the number of their first event ÷ 64, `ordinal` that of the first node. `nodes` has a list for each: slot (it orders the nodes of a frame and tells the event: slot ÷ 8), kind (0 message, 1 tool_call, 2 tool_result, 3 guardrail, 4 lifecycle), turn, and then of a message its role, the code points of its content if that is a text, its name; of a result true if it says which tool it is of; of a guardrail its type; of a lifecycle node its type (the number of its name in the order moved, removed, replaced, expired, cascaded, pruned, sealed, committed, forked, rolled_back), its cycle, the ordinals of its nodes. `hashes` begins with the `chain_hash`, a SHA-256 of the chain before and of the digests of the nodes; of each node follow its digest, payload_hash and (of messages) content_hash, but none of a lifecycle node: they are hashes of what its list has. `cycle` is that of the newest snapshot. The last row of a frame that is a snapshot has `kinds`, how many nodes of each kind the stream has; its `chain_hash` is the `node_hash` of the stream. The other hashes of a snapshot follow from both, from the configuration and from lists of all ids: they are computed when somebody asks for them.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['seq', 'uint'],
    ['part', 'uint'],
  ],
  value: [
    ['ordinal', 'uint'],
    ['cycle', 'uint'],
    ['hashes', 'bytes'],
    ['nodes', 'json'],
    ['kinds', 'json', 'null'],
  ],
});

export const STAGES_TABLES: readonly Table[] = [STREAMS, STAGE_NODES];
