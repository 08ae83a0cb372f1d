import { defineTable } from '@stemma/row-store';
import type { Table } from '@stemma/row-store';

/*
 * The rows that answer any position of any branch (snapshots: locations and rows). Columns that are usually null come
 * last: they then cost nothing.
 */

/** The headers of a node as cells, after its id. `nulls` distinguishes explicit nulls from absent headers. */
const HEADERS = [
  ['node_type', 'text', 'null'],
  ['cycle', 'int', 'null'],
  ['created_at_ns', 'wide', 'null'],
  ['creation_index', 'uint', 'null'],
  ['payload_seq', 'uint', 'null'],
  ['payload_index', 'uint', 'null'],
  ['offset', 'int', 'null'],
  ['role', 'text', 'null'],
  ['kind', 'text', 'null'],
  ['ttl', 'uint', 'null'],
  ['expires', 'uint', 'null'],
  ['parent', 'text', 'null'],
  ['ordinal', 'uint', 'null'],
  ['priority', 'number', 'null'],
  ['key', 'text', 'null'],
  ['refs', 'json', 'null'],
  ['removable', 'bool', 'null'],
  ['provenance', 'json', 'null'],
  ['nulls', 'uint', 'null'],
] as const;

export const BRANCHES = defineTable({
  name: 'branches',
  about:
    'A branch: the position of its parent that it starts from, the key of the position metadata there, and the name people use now. The parent of the root is null; `thread` is null for a full provider thread.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['parent', 'uint', 'null'],
    ['at', 'uint', 'null'],
    ['meta_branch_id', 'uint', 'null'],
    ['meta_seq', 'uint', 'null'],
    ['name', 'text', 'null'],
    ['thread', 'text', 'null'],
  ],
});

export const VERSIONS = defineTable({
  name: 'versions',
  about:
    'A node from a frame on; no cells: it is removed. `region`: 0 under `^sys` (`location` is the number of the `^sys` location), 1 in a turn or the head (`location` is the cycle that seals it), 2 root and regions (`ordinal` 0 to 3). `expires` is the first cycle without it. `nulls` has a bit for each header that is an explicit null: role 1, kind 2, key 4, provenance 8, refs 16, removable 32.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['region', 'uint'],
    ['location', 'uint'],
    ['node', 'text'],
    ['from', 'uint'],
  ],
  value: HEADERS,
  packed: true,
});

export const TURNS = defineTable({
  name: 'turns',
  about:
    'A sealed turn from a frame on; no cells: it is removed. `ordinal` distinguishes the turns of one import.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['cycle', 'uint'],
    ['ordinal', 'uint'],
    ['from', 'uint'],
  ],
  value: [['id', 'text', 'null'], ...HEADERS],
  packed: true,
});

export const TURN_SUMS = defineTable({
  name: 'turn_sums',
  about:
    'What is in a sealed turn from a frame on, so that a writer reads only the turns that it needs: the numbers of its nodes and blocks (itself not counted), the `sum` over its nodes, its digest and the hash of its slice of the thread as of the newest snapshot. `loads`: 1 if a commit may have to look into it (something in it expires, is held, or has refs), 2 if it changed after the newest snapshot.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['cycle', 'uint'],
    ['ordinal', 'uint'],
    ['from', 'uint'],
  ],
  value: [
    ['nodes', 'uint'],
    ['blocks', 'uint'],
    ['sum', 'uint'],
    ['digest', 'bytes', 'null'],
    ['slice', 'bytes', 'null'],
    ['loads', 'uint', 'null'],
  ],
  packed: true,
});

export const HASH_SUMS = defineTable({
  name: 'hash_sums',
  about:
    'The sum of the tree hash over the turns (2 KiB) at the newest snapshot of a branch; `seq` is its frame.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['sum', 'bytes'],
  ],
  rewritten: true,
});

export const IDS = defineTable({
  name: 'ids',
  about:
    'The location of a node from a frame on; no cells: it is removed. `region` as in `versions`, 3 for a turn. An id with any row is taken forever.',
  key: [
    ['history', 'text'],
    ['id', 'text'],
    ['from', 'uint'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['region', 'uint', 'null'],
    ['location', 'uint', 'null'],
    ['ordinal', 'uint', 'null'],
  ],
});

export const SNAPSHOTS = defineTable({
  name: 'snapshots',
  about:
    'The snapshot of a cycle: the position (`branch_id`, `seq`) and what was computed of it. Event `index` of the frame is the snapshot (`imported`: it brought the state in as it is), event `turn_index` made the turn of the head; null where the head was empty.',
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
    ['index', 'uint'],
    ['turn_index', 'uint', 'null'],
    ['imported', 'bool', 'null'],
  ],
});

export const POSITION_META = defineTable({
  name: 'position_meta',
  about:
    'The metadata of a position from a frame on: the newest `cycle`; the lowest location with living nodes (`oldest_live`), except for those in `older_live`; the lowest location of a turn; the number of the `^sys` location, its living nodes and its rows; the `sum` over the records that live here, by which missing rows are noticed; and what the next command is decided on: the newest `created_at_ns`, the next `creation_index`, the frames that configured the policy and the rest.',
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
    ['sum', 'uint'],
    ['sys', 'uint', 'null'],
    ['policy', 'uint', 'null'],
    ['older_live', 'json', 'null'],
    ['config', 'uint', 'null'],
  ],
});

export const COMMANDS = defineTable({
  name: 'commands',
  about: 'The frame that recorded a command, and the digest of the command. Kept forever.',
  key: [
    ['history', 'text'],
    ['command', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['digest', 'bytes'],
  ],
});

export const NAMES = defineTable({
  name: 'names',
  about: 'The position (`branch_id`, `seq`) that has a name.',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
});

export const HEADS = defineTable({
  name: 'heads',
  about:
    'The newest frame of a branch, and its newest frame that has position metadata. A branch without frames of its own has no row: its newest frame is the one that started it.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['meta_seq', 'uint', 'null'],
  ],
});

export const POLICIES = defineTable({
  name: 'policies',
  about: 'A pruning policy as a frame configured it; null: nothing is pruned.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['policy', 'json', 'null']],
});

export const BRANCH_NAMES = defineTable({
  name: 'branch_names',
  about:
    'The branch that has a name now: a rollback passes the name of the abandoned branch on to the new one.',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [['branch_id', 'uint']],
});

export const CONFIGS = defineTable({
  name: 'configs',
  about: 'The whole general configuration after a frame: an object by key.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['config', 'json']],
});

/** What no sum and no hash vouches for: a row that is missing there would be a name that is free, or a command that nobody sent. */
export const COUNTED_TABLES: readonly Table[] = [
  BRANCHES,
  IDS,
  COMMANDS,
  NAMES,
  POLICIES,
  CONFIGS,
  BRANCH_NAMES,
];

export const SNAPSHOTS_TABLES: readonly Table[] = [
  BRANCHES,
  VERSIONS,
  TURNS,
  TURN_SUMS,
  HASH_SUMS,
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
