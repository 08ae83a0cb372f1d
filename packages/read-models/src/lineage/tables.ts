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
    'A history: its name, the first and the newest time, counts, where it was imported from, what it salvages; `intervened_at` is the largest `at` of its interventions.',
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
    ['intervened_at', 'wide'],
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
    "A frame: its lineage, who wrote it and when, by which command, how many events it has. `recorder` names an agent's own record, `actor` an observer. `observed`: it holds observations and lies outside of the lineage.",
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [
    ['strand', 'uint'],
    ['at', 'wide'],
    ['events', 'uint'],
    ['command', 'text'],
    ...AUTHOR,
    ['observed', 'bool'],
  ],
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

export const INTERVENTIONS: Table = {
  name: 'interventions',
  about:
    "An observer's act, by its frame: its kind, who and why, its id (`command`), the positions before and after it (before is null where the history starts). `high_at` is the largest `at` of the history's interventions up to this one. Content is read from the frame.",
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [
    ['strand', 'uint'],
    ['at', 'wide'],
    ['high_at', 'wide'],
    ['intervention', 'text'],
    ['actor', 'text'],
    ['command', 'text'],
    ['after_strand', 'uint'],
    ['after_seq', 'uint'],
    ['before_strand', 'uint'],
    ['before_seq', 'uint'],
    ['notes', 'text'],
  ],
};

export const INTERVENTIONS_BY: Table = {
  name: 'interventions_by',
  about:
    'The interventions of a history by what is asked for: `by` is type, actor, lineage (its strand), or position (`strand:seq`, before or after).',
  key: [
    ['history', 'text'],
    ['by', 'text'],
    ['what', 'text'],
    ['seq', 'uint'],
  ],
  value: [],
};

export const OBSERVATIONS: Table = {
  name: 'observations',
  about:
    'What an actor looked at: the event `index` of frame `seq`. The position (`strand`, `position`) was seen `times` times.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [
    ['actor', 'text'],
    ['kind', 'text'],
    ['what', 'text'],
    ['strand', 'uint'],
    ['position', 'uint'],
    ['times', 'uint'],
    ['first_at', 'wide'],
    ['last_at', 'wide'],
    ['lineage', 'uint'],
  ],
};

export const LINEAGE_TABLES: readonly Table[] = [
  HISTORIES,
  LINEAGES,
  ACTS,
  COMMITS,
  NAMED,
  NOTES,
  INTERVENTIONS,
  INTERVENTIONS_BY,
  OBSERVATIONS,
];
