import { defineTable, type Table } from '@stemma/row-store';

export const STEERED_CALLS = defineTable({
  name: 'steered_calls',
  about:
    'A call that went out with changes of observers, or without them (`unsteered` says why): the event has the request as it came, if that is another one.',
  key: [
    ['history', 'text'],
    ['attempt_id', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['index', 'uint'],
    ['request_sha256', 'bytes', 'null'],
    ['request_size', 'uint', 'null'],
    ['unsteered', 'text', 'null'],
  ],
});

export const STEERED_CHANGES = defineTable({
  name: 'steered_changes',
  about:
    'What observers changed in a request: `what` is inserted, replaced or removed, or lost where the agent changed the same message; `by_seq` is the frame of the intervention.',
  key: [
    ['history', 'text'],
    ['attempt_id', 'text'],
    ['number', 'uint'],
  ],
  value: [
    ['what', 'text'],
    ['node_id', 'text'],
    ['by_seq', 'uint'],
  ],
});

export const HELD_CALLS = defineTable({
  name: 'held_calls',
  about:
    'A call that was held before it went out, with the position that shows what the model would be shown. `breakpoints`: their names, with a space between. `until`: milliseconds since 1970. What is known of its release begins with `released_seq`, which is null while it waits.',
  key: [
    ['history', 'text'],
    ['attempt_id', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['at', 'wide'],
    ['branch_id', 'uint'],
    ['position', 'uint'],
    ['cycle', 'uint'],
    ['api', 'text'],
    ['model', 'text', 'null'],
    ['breakpoints', 'text'],
    ['until', 'wide'],
    ['after_timeout', 'text'],
    ['released_seq', 'uint', 'null'],
    ['released_at', 'wide', 'null'],
    ['how', 'text', 'null'],
    ['released_by', 'text', 'null'],
    ['message', 'text', 'null'],
  ],
});

export const WAITING_CALLS = defineTable({
  name: 'waiting_calls',
  about: 'The held calls that nobody has released.',
  key: [
    ['history', 'text'],
    ['attempt_id', 'text'],
  ],
  value: [],
});

export const WAITING_HISTORIES = defineTable({
  name: 'waiting_histories',
  about: 'The histories with held calls that nobody has released.',
  key: [['history', 'text']],
  value: [['calls', 'uint']],
});

export const STEERED_HISTORIES = defineTable({
  name: 'steered_histories',
  about: 'The histories with branches whose settings steer calls.',
  key: [['history', 'text']],
  value: [['settings', 'uint']],
});

export const STEERED_BRANCHES = defineTable({
  name: 'steered_branches',
  about:
    'The settings of branches that steer calls: `steer`, or a breakpoint. A branch has those of the one it started from, also if they were set later.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['setting', 'text'],
  ],
  value: [],
});

export const STEERING_TABLES: readonly Table[] = [
  STEERED_CALLS,
  STEERED_CHANGES,
  HELD_CALLS,
  WAITING_CALLS,
  WAITING_HISTORIES,
  STEERED_HISTORIES,
  STEERED_BRANCHES,
];
