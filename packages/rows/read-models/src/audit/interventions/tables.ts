import { defineTable, type Table } from '@stemma/row-store';

export const INTERVENTIONS = defineTable({
  name: 'interventions',
  about:
    "An observer's act, by its frame: its kind, who and why, its id (`command`), the positions before and after it (before is null where the history starts). `high_at` is the largest `at` of the history's interventions up to this one. Content is read from the frame.",
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
  ],
  value: [
    ['branch_id', 'uint'],
    ['at', 'wide'],
    ['high_at', 'wide'],
    ['intervention', 'text'],
    ['actor', 'text'],
    ['command', 'text'],
    ['after_branch_id', 'uint'],
    ['after_seq', 'uint'],
    ['before_branch_id', 'uint', 'null'],
    ['before_seq', 'uint', 'null'],
    ['notes', 'text', 'null'],
  ],
});

export const INTERVENTIONS_BY = defineTable({
  name: 'interventions_by',
  about:
    'The interventions of a history by what is asked for: `by` is type, actor, branch (its branch id), or position (`branch id:seq`, before or after).',
  key: [
    ['history', 'text'],
    ['by', 'text'],
    ['what', 'text'],
    ['seq', 'uint'],
  ],
  value: [],
});

export const OBSERVATIONS = defineTable({
  name: 'observations',
  about:
    'What an actor looked at: the event `index` of frame `seq`. The position (`branch_id`, `position`) was seen `times` times.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [
    ['actor', 'text', 'null'],
    ['kind', 'text'],
    ['what', 'text'],
    ['branch_id', 'uint'],
    ['position', 'uint'],
    ['times', 'uint'],
    ['first_at', 'wide'],
    ['last_at', 'wide'],
    ['asked_branch_id', 'uint'],
  ],
});

export const INTERVENTION_TABLES: readonly Table[] = [INTERVENTIONS, INTERVENTIONS_BY, OBSERVATIONS];
