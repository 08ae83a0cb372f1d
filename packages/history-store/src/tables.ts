import type { Table } from '@stemma/row-store';

/*
 * The rows that answer any position of any branch (snapshots: locations and rows). Columns that are usually null stand
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

export const BRANCHES: Table = {
  name: 'branches',
  about:
    'A branch: where it left its parent, the mark that holds at its beginning, and the name people use now. The parent of the root is null; `thread` is null for a full provider thread.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['parent', 'uint'],
    ['at', 'uint'],
    ['meta_branch_id', 'uint'],
    ['meta_seq', 'uint'],
    ['name', 'text'],
    ['thread', 'text'],
  ],
};

export const VERSIONS: Table = {
  name: 'versions',
  about:
    'A node from a frame on; no cells: it is no longer there. `region`: 0 under `^sys` (`location` is the number of the `^sys` place), 1 in a turn or the head (`location` is the cycle that seals it), 2 root and regions (`ordinal` 0 to 3). `expires` is the first cycle without it. `nulls` has a bit for each header that is an explicit null: role 1, kind 2, key 4, provenance 8, refs 16, removable 32.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['region', 'uint'],
    ['location', 'uint'],
    ['node', 'text'],
    ['from', 'uint'],
  ],
  value: HEADERS,
};

export const TURNS: Table = {
  name: 'turns',
  about:
    'A sealed turn from a frame on; no cells: it is no longer there. `ordinal` tells the turns of one import apart.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['cycle', 'uint'],
    ['ordinal', 'uint'],
    ['from', 'uint'],
  ],
  value: [['id', 'text'], ...HEADERS],
};

export const IDS: Table = {
  name: 'ids',
  about:
    'The place a node is in from a frame on; no cells: none. `region` as in `versions`, 3 for a turn. An id with any row is taken for ever.',
  key: [
    ['history', 'text'],
    ['id', 'text'],
    ['from', 'uint'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['region', 'uint'],
    ['location', 'uint'],
    ['ordinal', 'uint'],
  ],
};

export const SNAPSHOTS: Table = {
  name: 'snapshots',
  about: 'The snapshot of a cycle: the position (`branch_id`, `seq`) and what was computed of it.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
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

export const POSITION_META: Table = {
  name: 'position_meta',
  about:
    'What must be known of a position besides its nodes, from a frame on: the newest `cycle`; the lowest place with something alive (`oldest_live`), but for those in `older_live`; the lowest place of a turn; the number of the `^sys` place, its living nodes and its rows; and what the next command is decided on: the newest `created_at_ns`, the next `creation_index`, the frames that configured the policy and the rest.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
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
    ['older_live', 'json'],
    ['config', 'uint'],
  ],
};

export const COMMANDS: Table = {
  name: 'commands',
  about: 'The frame that a command came to, and the digest of the command. Kept for ever.',
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
  about: 'The position (`branch_id`, `seq`) that a name stands for.',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
};

export const HEADS: Table = {
  name: 'heads',
  about:
    'The newest frame of a branch and the newest of its own marks. A branch that was only started has none: its newest frame is the one that started it.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['meta_seq', 'uint'],
  ],
};

export const POLICIES: Table = {
  name: 'policies',
  about: 'A pruning policy as a frame configured it; null: nothing is pruned.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['policy', 'json']],
};

export const BRANCH_NAMES: Table = {
  name: 'branch_names',
  about: 'The branch that has a name now: a rollback takes its name along.',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [['branch_id', 'uint']],
};

export const CONFIGS: Table = {
  name: 'configs',
  about: 'The whole general configuration as a frame left it: an object by key.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['config', 'json']],
};

export const SNAPSHOTS_TABLES: readonly Table[] = [
  BRANCHES,
  VERSIONS,
  TURNS,
  IDS,
  SNAPSHOTS,
  POSITION_META,
  COMMANDS,
  NAMES,
  HEADS,
  POLICIES,
  CONFIGS,
  BRANCH_NAMES,
];
