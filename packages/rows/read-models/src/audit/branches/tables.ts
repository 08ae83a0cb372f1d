import { defineTable, type Table } from '@stemma/row-store';

/*
 * Who wrote what when, and which branches a history has. Columns that end in `at` hold the times that writers read from their
 * clocks.
 */

/** Who wrote it: `recorder` for an agent's own record, `actor` for an observer's act; one of the two is null. */
const AUTHOR = [
  ['recorder', 'text', 'null'],
  ['actor', 'text', 'null'],
] as const;

export const HISTORIES = defineTable({
  name: 'histories',
  about:
    'A history: its name, the first and the newest time, counts, where it was imported from, what it salvages; `intervened_at` is the largest `at` of its interventions.',
  key: [['history', 'text']],
  value: [
    ['name', 'text', 'null'],
    ['started_at', 'wide'],
    ['newest_at', 'wide'],
    ['frames', 'uint'],
    ['events', 'uint'],
    ['seq', 'uint'],
    ['snapshots', 'uint'],
    ['branches', 'uint'],
    ['thread', 'text'],
    ['format', 'text', 'null'],
    ['source', 'text', 'null'],
    ['salvaged_history', 'text', 'null'],
    ['salvaged_seq', 'uint', 'null'],
    ['intervened_at', 'wide', 'null'],
  ],
});

export const BRANCH_SUMMARIES = defineTable({
  name: 'branch_summaries',
  about:
    "A branch: how it began (start, fork, rollback) and at which position of its parent, its name, its own counts without its ancestors', and the rollback that left it.",
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['how', 'text'],
    ['name', 'text', 'null'],
    ['started_at', 'wide'],
    ['newest_at', 'wide'],
    ['frames', 'uint'],
    ['events', 'uint'],
    ['seq', 'uint'],
    ['snapshots', 'uint'],
    ['parent', 'uint', 'null'],
    ['parent_seq', 'uint', 'null'],
    ['abandoned_by', 'uint', 'null'],
  ],
});

export const FRAME_SUMMARIES = defineTable({
  name: 'frame_summaries',
  about:
    "A frame: its branch, who wrote it and when, by which command, how many events it has. `recorder` names an agent's own record, `actor` an observer. `observed`: it holds observations and lies outside of the branch.",
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [
    ['branch_id', 'uint'],
    ['at', 'wide'],
    ['events', 'uint'],
    ['command', 'text'],
    ...AUTHOR,
    ['observed', 'bool', 'null'],
  ],
});

export const NAMED_POSITIONS = defineTable({
  name: 'named_positions',
  about: 'A named position: (`branch_id`, `position`), and the frame that named it.',
  key: [
    ['history', 'text'],
    ['name', 'text'],
  ],
  value: [
    ['branch_id', 'uint'],
    ['position', 'uint'],
    ['seq', 'uint'],
  ],
});

export const NOTES = defineTable({
  name: 'notes',
  about: 'A note to a position: (`branch_id`, `position`), written by the event `index` of frame `seq`.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['position', 'uint'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [['note', 'text']],
});

export const LABELS = defineTable({
  name: 'labels',
  about: 'A label of a history, and the frame that gave it; one that was taken away has no row.',
  key: [
    ['history', 'text'],
    ['label', 'text'],
  ],
  value: [
    ['value', 'text'],
    ['seq', 'uint'],
  ],
});

export const BRANCH_TABLES: readonly Table[] = [
  HISTORIES,
  BRANCH_SUMMARIES,
  FRAME_SUMMARIES,
  NAMED_POSITIONS,
  NOTES,
  LABELS,
];
