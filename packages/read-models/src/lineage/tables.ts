import type { Table } from '@stemma/row-store';

/*
 * Who did what when, and how the lineages of a history hang together. Columns that end in `at` hold the times that
 * writers read from their clocks; of `from_seq`, a position is meant.
 */

/** Who wrote it: `recorder` for an agent's own record, `actor` for an observer's act; one of the two is null. */
const AUTHOR = [
  ['recorder', 'text'],
  ['actor', 'text'],
] as const;

export const HISTORIES: Table = {
  name: 'histories',
  key: [['history', 'text']],
  value: [
    ['name', 'text'],
    ['started_at', 'wide'],
    ['newest_at', 'wide'],
    ['frames', 'uint'],
    ['events', 'uint'],
    ['seq', 'uint'],
    ['snapshots', 'uint'],
    ['thread', 'text'],
    ['format', 'text'],
    ['source', 'text'],
    ['salvaged_history', 'text'],
    ['salvaged_seq', 'uint'],
  ],
};

/** `how`: start, fork, rollback. `parent`, `parent_seq`: the position it goes on from. `left_by`: the rollback that left it. */
export const LINEAGES: Table = {
  name: 'lineages',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
  ],
  value: [
    ['how', 'text'],
    ['name', 'text'],
    ['started_at', 'wide'],
    ['newest_at', 'wide'],
    ['frames', 'uint'],
    ['events', 'uint'],
    ['seq', 'uint'],
    ['snapshots', 'uint'],
    ['parent', 'uint'],
    ['parent_seq', 'uint'],
    ['left_by', 'uint'],
  ],
};

/** Every frame: its lineage, who and when, the command, how many events. */
export const ACTS: Table = {
  name: 'acts',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['strand', 'uint'], ['at', 'wide'], ['events', 'uint'], ['command', 'text'], ...AUTHOR],
};

/** Every snapshot by the frame that made it: the act with the same `seq` says who and when. */
export const COMMITS: Table = {
  name: 'commits',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['cycle', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['nodes', 'uint'],
    ['blocks', 'uint'],
    ['turns', 'uint'],
    ['tree_hash', 'bytes'],
    ['thread_hash', 'bytes'],
    ['imported', 'bool'],
  ],
};

/** Positions with a name. */
export const NAMED: Table = {
  name: 'named',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [
    ['strand', 'uint'],
    ['position', 'uint'],
    ['seq', 'uint'],
  ],
};

/** Notes to positions, in the order in which they were written. */
export const NOTES: Table = {
  name: 'notes',
  key: [
    ['history', 'text'],
    ['strand', 'uint'],
    ['position', 'uint'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [['note', 'text']],
};

export const LINEAGE_TABLES: readonly Table[] = [HISTORIES, LINEAGES, ACTS, COMMITS, NAMED, NOTES];
