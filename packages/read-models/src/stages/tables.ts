import type { Table } from '@stemma/row-store';

/*
 * Our own histories as streams of nodes, and the hashes of their stages (compiler-stages), in the profile `stemma-1`.
 * Hashes are SHA-256, 32 bytes. A strand's own nodes come behind those of its ancestors up to where it left them.
 */

/** What the hashes go on from; see `running.ts`. */
const RUNNING = [
  ['messages', 'uint'],
  ['tool_calls', 'uint'],
  ['tool_results', 'uint'],
  ['guardrails', 'uint'],
  ['lifecycles', 'uint'],
  ['states', 'bytes'],
  ['open_ids', 'text'],
  ['last_user', 'text'],
  ['last_assistant', 'text'],
] as const;

export const STREAMS: Table = {
  name: 'streams',
  about:
    'The node stream of a lineage: the strand it goes on from and behind which of its frames, the first chunk of `stage_ids` that is its own, the newest frame that brought nodes, and where the hashes stand: nodes of each kind, resumable SHA-256 states of digests, SPEC and HEADER, the ids of messages that fill no chunk yet, the last user and assistant message.',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
  ],
  value: [['parent', 'uint'], ['at', 'uint'], ['first_chunk', 'uint'], ['seq', 'uint'], ...RUNNING],
};

export const STAGE_NODES: Table = {
  name: 'stage_nodes',
  about:
    'A node of the stream: `slot` orders the nodes of a frame and tells the event (slot ÷ 8). `label` is null where it is the kind. `named`: a result that says which tool it is of. `payload` is that of lifecycle nodes, which have no `payload_hash`; that of others lies with their event.',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['seq', 'uint'],
    ['slot', 'uint'],
  ],
  value: [
    ['ordinal', 'uint'],
    ['kind', 'text'],
    ['turn', 'int'],
    ['digest', 'bytes'],
    ['payload_hash', 'bytes'],
    ['label', 'text'],
    ['content_hash', 'bytes'],
    ['content_length', 'uint'],
    ['role', 'text'],
    ['name', 'text'],
    ['named', 'bool'],
    ['payload', 'json'],
  ],
};

export const STAGE_HASHES: Table = {
  name: 'stage_hashes',
  about: 'A snapshot of the stream: the hashes of its stages with the default configuration.',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['seq', 'uint'],
  ],
  value: [
    ['cycle', 'uint'],
    ['node_hash', 'bytes'],
    ['z1', 'bytes'],
    ['z2', 'bytes'],
    ['z3', 'bytes'],
  ],
};

export const STAGE_IDS: Table = {
  name: 'stage_ids',
  about:
    'The ids of the messages of a stream, 64 a row, as they stand in a JSON list, and the frame that filled the row. The rest is in `streams`.',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['chunk', 'uint'],
  ],
  value: [
    ['ids', 'text'],
    ['seq', 'uint'],
  ],
};

export const STAGE_MARKS: Table = {
  name: 'stage_marks',
  about:
    'Where the hashes of a stream stood behind a frame, one for every 64 nodes or a frame that brings more: a lineage that starts in the past goes on from there.',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['seq', 'uint'],
  ],
  value: RUNNING,
};

export const STAGES_TABLES: readonly Table[] = [STREAMS, STAGE_NODES, STAGE_HASHES, STAGE_IDS, STAGE_MARKS];
