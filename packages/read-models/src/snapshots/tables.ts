import type { Table } from '@stemma/row-store';

/*
 * The rows that answer any position of any lineage (snapshots: places and rows). Columns that are usually null stand
 * last: they then cost nothing.
 */

/** The headers of a node as cells, behind its id. `nulls` tells explicit nulls from what is absent. */
const HEADERS = [
  ['node_type', 'text'],
  ['cycle', 'int'],
  ['created_at_ns', 'wide'],
  ['creation_index', 'uint'],
  ['payload_seq', 'uint'],
  ['payload_index', 'uint'],
  ['offset', 'int'],
  ['role', 'text'],
  ['kind', 'text'],
  ['ttl', 'uint'],
  ['expires', 'uint'],
  ['parent', 'text'],
  ['ordinal', 'uint'],
  ['priority', 'number'],
  ['key', 'text'],
  ['refs', 'json'],
  ['removable', 'bool'],
  ['provenance', 'json'],
  ['nulls', 'uint'],
] as const;

/** A lineage: where it left its parent, and the mark that holds there. The root's parent is null. */
export const STRANDS: Table = {
  name: 'strands',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
  ],
  value: [
    ['parent', 'uint'],
    ['at', 'uint'],
    ['mark_strand', 'uint'],
    ['mark_seq', 'uint'],
    ['name', 'text'],
    ['thread', 'text'],
  ],
};

/**
 * A node from a frame on; no cells: it is no longer there. `region`: 0 under `^sys` (`place` the number of the `^sys`
 * place), 1 in a turn or the head (`place` the cycle that seals it), 2 root and regions (`ordinal` 0…3).
 */
export const VERSIONS: Table = {
  name: 'versions',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['region', 'uint'],
    ['place', 'uint'],
    ['node', 'text'],
    ['from', 'uint'],
  ],
  value: HEADERS,
};

/** A sealed turn from a frame on; no cells: it is no longer there. */
export const TURNS: Table = {
  name: 'turns',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['cycle', 'uint'],
    ['ordinal', 'uint'],
    ['from', 'uint'],
  ],
  value: [['id', 'text'], ...HEADERS],
};

/** The place a node is in from a frame on; no cells: none. `region` as in `versions`, 3 for a turn. */
export const IDS: Table = {
  name: 'ids',
  key: [
    ['history', 'text'],
    ['id', 'text'],
    ['from', 'uint'],
    ['strand', 'uint'],
  ],
  value: [
    ['region', 'uint'],
    ['place', 'uint'],
    ['ordinal', 'uint'],
  ],
};

/** The snapshot of a cycle: the position (strand, seq) and what was computed of it. */
export const SNAPSHOTS: Table = {
  name: 'snapshots',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['cycle', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['tree_hash', 'bytes'],
    ['thread_hash', 'bytes'],
    ['nodes', 'uint'],
    ['blocks', 'uint'],
    ['turns', 'uint'],
  ],
};

/**
 * What must be known of a position besides its nodes, from a frame on: `cycle` of the newest commit, `oldest_live`, and
 * `also` (the places below it) with something alive, `oldest_turn`, the `sys` place with its living nodes and rows,
 * and what the next command is decided on. `policy` is the frame that configured it.
 */
export const MARKS: Table = {
  name: 'marks',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['seq', 'uint'],
  ],
  value: [
    ['cycle', 'uint'],
    ['oldest_live', 'uint'],
    ['oldest_turn', 'uint'],
    ['newest', 'wide'],
    ['next_index', 'uint'],
    ['sys_live', 'uint'],
    ['sys_rows', 'uint'],
    ['sys', 'uint'],
    ['policy', 'uint'],
    ['also', 'json'],
  ],
};

/** Commands are remembered for ever (record §3). */
export const COMMANDS: Table = {
  name: 'commands',
  key: [
    ['history', 'text'],
    ['command', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['digest', 'bytes'],
  ],
};

export const NAMES: Table = {
  name: 'names',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [
    ['strand', 'uint'],
    ['seq', 'uint'],
  ],
};

/** The newest frame of a lineage and its newest own mark; none for one that was only started. */
export const HEADS: Table = {
  name: 'heads',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['mark', 'uint'],
  ],
};

export const POLICIES: Table = {
  name: 'policies',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['policy', 'json']],
};

export const SNAPSHOTS_TABLES: readonly Table[] = [
  STRANDS,
  VERSIONS,
  TURNS,
  IDS,
  SNAPSHOTS,
  MARKS,
  COMMANDS,
  NAMES,
  HEADS,
  POLICIES,
];
