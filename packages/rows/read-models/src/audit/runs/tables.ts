import { defineTable, type Table } from '@stemma/row-store';

export const POOL_RUNS = defineTable({
  name: 'pool_runs',
  about:
    'A run of a pool that an actor asked for, by the id of the command of frame `seq`, with its limits. `round`: the newest round that was done when a runner first took it, at `begun_at` in frame `begun_seq`; `runner`: who makes its rounds, or made them. What is known of its end begins with `how`, which is null while it goes on; `done` rounds were made.',
  key: [
    ['history', 'text'],
    ['run', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['branch_id', 'uint'],
    ['at', 'wide'],
    ['actor', 'text'],
    ['notes', 'text'],
    ['rounds', 'uint'],
    ['checkpoint_every', 'uint', 'null'],
    ['tokens', 'uint', 'null'],
    ['cost', 'text', 'null'],
    ['seconds', 'uint', 'null'],
    ['round', 'uint', 'null'],
    ['begun_seq', 'uint', 'null'],
    ['begun_at', 'wide', 'null'],
    ['runner', 'text', 'null'],
    ['how', 'text', 'null'],
    ['ended_seq', 'uint', 'null'],
    ['ended_at', 'wide', 'null'],
    ['ended_by', 'text', 'null'],
    ['ended_notes', 'text', 'null'],
    ['why', 'text', 'null'],
    ['code', 'text', 'null'],
    ['done', 'uint', 'null'],
  ],
});

export const OPEN_RUNS = defineTable({
  name: 'open_runs',
  about: 'The runs of pools that are asked for and not over.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [['run', 'text']],
});

export const OPEN_RUN_HISTORIES = defineTable({
  name: 'open_run_histories',
  about: 'The histories with runs of pools that are asked for and not over.',
  key: [['history', 'text']],
  value: [['runs', 'uint']],
});

export const RUN_TABLES: readonly Table[] = [POOL_RUNS, OPEN_RUNS, OPEN_RUN_HISTORIES];
