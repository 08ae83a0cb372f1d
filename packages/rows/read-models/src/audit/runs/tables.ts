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

export const RUN_CALL_COUNTS = defineTable({
  name: 'run_call_counts',
  about:
    'The runs of programs that a history has to do with, by the id of each: how many of its calls are there, and the frame of the first. 0: its calls are elsewhere now, or the history says what was run.',
  key: [
    ['history', 'text'],
    ['run', 'text'],
  ],
  value: [
    ['calls', 'uint'],
    ['first_seq', 'uint', 'null'],
  ],
});

export const RUN_HISTORIES = defineTable({
  name: 'run_histories',
  about: 'The histories that have to do with a run of a program; `bucket` is a hash of its id.',
  key: [
    ['bucket', 'uint'],
    ['run', 'text'],
    ['history', 'text'],
  ],
  value: [],
});

export const RECORDED_RUNS = defineTable({
  name: 'recorded_runs',
  about:
    'The event `index` of frame `seq` that says which program was run, and how it ended: milliseconds since 1970. `redacted`: secrets were taken out of its words or its directory.',
  key: [
    ['history', 'text'],
    ['run', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['index', 'uint'],
    ['branch_id', 'uint'],
    ['started_at', 'uint'],
    ['ended_at', 'uint'],
    ['exit_code', 'int', 'null'],
    ['signal', 'text', 'null'],
    ['redacted', 'bool', 'null'],
  ],
});

export const RERUNS = defineTable({
  name: 'reruns',
  about:
    'The event `index` of frame `seq` that says what came of running an agent again, `of_run` answering: `exit` is the exit code of the rerun, `exit_code` and `signal` are the end of the agent. Of its calls, how many were how; `other_order` counts of `same`.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [
    ['index', 'uint'],
    ['rerun', 'text'],
    ['of_run', 'text', 'null'],
    ['branch_id', 'uint'],
    ['started_at', 'uint'],
    ['ended_at', 'uint'],
    ['exit_code', 'int', 'null'],
    ['signal', 'text', 'null'],
    ['exit', 'uint'],
    ['same', 'uint'],
    ['other_order', 'uint'],
    ['bound', 'uint'],
    ['differs', 'uint'],
    ['extra', 'uint'],
    ['missing', 'uint'],
    ['live', 'uint'],
    ['not_kept', 'uint'],
  ],
});

export const RUN_TABLES: readonly Table[] = [
  POOL_RUNS,
  OPEN_RUNS,
  OPEN_RUN_HISTORIES,
  RUN_CALL_COUNTS,
  RUN_HISTORIES,
  RECORDED_RUNS,
  RERUNS,
];
