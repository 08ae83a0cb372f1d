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
  about:
    'A history: its name, the first and the newest time, counts, where it was imported from, what it salvages.',
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

export const LINEAGES: Table = {
  name: 'lineages',
  about:
    "A lineage: how it began (start, fork, rollback) and at which position of its parent, its name, its own counts without its ancestors', and the rollback that left it.",
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

export const ACTS: Table = {
  name: 'acts',
  about:
    "A frame: its lineage, who wrote it and when, by which command, how many events it has. `recorder` names an agent's own record, `actor` an observer.",
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['strand', 'uint'], ['at', 'wide'], ['events', 'uint'], ['command', 'text'], ...AUTHOR],
};

export const COMMITS: Table = {
  name: 'commits',
  about: 'A snapshot by the frame that made it; the act with the same `seq` says who and when.',
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

export const NAMED: Table = {
  name: 'named',
  about: 'A named position: (`strand`, `position`), and the frame that named it.',
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

export const NOTES: Table = {
  name: 'notes',
  about: 'A note to a position: (`strand`, `position`), written by the event `index` of frame `seq`.',
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
