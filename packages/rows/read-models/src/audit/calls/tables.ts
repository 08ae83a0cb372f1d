import { defineTable, type Table } from '@stemma/row-store';
import { ANSWER_COLUMNS } from './answer-cells.ts';

export const CALLS = defineTable({
  name: 'calls',
  about:
    'An attempt to call a model: the event `index` of frame `seq`, with the position (`branch_id`, `position`) that it was called with. `tools_seq`, `tools_index`: the event that has the tools. `match`: how a recorder found the branch, among the calls of `scope`; null: nobody looked for it. What is known of its end begins with `status`, which is null while nobody has recorded one; `finished_seq` and `finished_index` are the event that did. Tokens and milliseconds as recorded. `at`: when the request went out, or was recorded, if nobody saw that; `origin` and `path`: where to; `…_type` and `…_coding`: content types and codings; `choices`: how many the answer has; `answers`: the first 8 bytes of the hash of each, over the scope; `session`: a hash of the session that its client named; `run`: the run of a program that made it. `fidelity`: how true its picture is, where a file told of it, and `missing`: a JSON list of what the file lacks. `assigned_…`: the attempt that it was before somebody assigned it here; `reassigned_…`: the one that it is since somebody assigned it elsewhere.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [
    ['attempt_id', 'text'],
    ['branch_id', 'uint'],
    ['position', 'uint'],
    ['cycle', 'uint'],
    ['at', 'wide'],
    ['api', 'text'],
    ['model', 'text', 'null'],
    ['request_sha256', 'bytes', 'null'],
    ['request_size', 'uint', 'null'],
    ['tools_seq', 'uint', 'null'],
    ['tools_index', 'uint', 'null'],
    ['scope', 'text', 'null'],
    ['match', 'text', 'null'],
    ['origin', 'text', 'null'],
    ['path', 'text', 'null'],
    ['request_type', 'text', 'null'],
    ['request_coding', 'text', 'null'],
    ['status', 'text', 'null'],
    ['finished_seq', 'uint', 'null'],
    ['finished_index', 'uint', 'null'],
    ['http_status', 'uint', 'null'],
    ['finish_reason', 'text', 'null'],
    ['answer_model', 'text', 'null'],
    ...ANSWER_COLUMNS,
    ['error_code', 'text', 'null'],
    ['error_message', 'text', 'null'],
    ['choices', 'uint', 'null'],
    ['response_type', 'text', 'null'],
    ['response_coding', 'text', 'null'],
    ['retry_after', 'text', 'null'],
    ['answers', 'bytes', 'null'],
    ['session', 'text', 'null'],
    ['run', 'text', 'null'],
    ['fidelity', 'text', 'null'],
    ['missing', 'text', 'null'],
    ['assigned_history', 'text', 'null'],
    ['assigned_attempt', 'text', 'null'],
    ['reassigned_history', 'text', 'null'],
    ['reassigned_branch_id', 'uint', 'null'],
    ['reassigned_attempt', 'text', 'null'],
  ],
});

export const CALL_ATTEMPTS = defineTable({
  name: 'call_attempts',
  about: 'The event that started an attempt, by its id.',
  key: [
    ['history', 'text'],
    ['attempt_id', 'text'],
  ],
  value: [
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
});

export const CALLS_AT = defineTable({
  name: 'calls_at',
  about:
    'The attempts with the snapshot or draft at a position, in the order they were recorded. `reassigned`: it belongs elsewhere.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['position', 'uint'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [['reassigned', 'bool', 'null']],
});

/** A row's `bucket` is the first byte of its hash: no range goes over histories, and nobody reads all of them. */
export const CALL_PROMPTS = defineTable({
  name: 'call_prompts',
  about:
    'The calls whose list of messages has a hash, in the order they were recorded: `list` is its first 16 bytes, over the scope in which the next call of a conversation is looked for. `session`: a hash of the session that the client named, or `~`.',
  key: [
    ['bucket', 'uint'],
    ['list', 'bytes'],
    ['session', 'text'],
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [],
});

export const CALL_MESSAGES = defineTable({
  name: 'call_messages',
  about: 'The calls that brought a message: `message` is the first 8 bytes of its hash, over the scope.',
  key: [
    ['bucket', 'uint'],
    ['message', 'bytes'],
    ['session', 'text'],
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [],
});

export const CALL_ANSWERS = defineTable({
  name: 'call_answers',
  about:
    'The calls that were answered with a message: `message` is the first 8 bytes of its hash, over the scope. Who has it in a list goes on from there.',
  key: [
    ['bucket', 'uint'],
    ['message', 'bytes'],
    ['session', 'text'],
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [],
});

export const CALL_ASKED = defineTable({
  name: 'call_asked',
  about:
    'The calls of runs whose answer calls a tool with a text as an argument: `text` is the first 8 bytes of its hash, over the scope. A conversation that begins with the text was asked for there.',
  key: [
    ['bucket', 'uint'],
    ['text', 'bytes'],
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [],
});

export const CALL_FOLLOWED = defineTable({
  name: 'call_followed',
  about:
    'The position (`branch_id`, `position`) of the call that goes on from the answer of an attempt, where several attempts have one position: they are of as many conversations, which began alike.',
  key: [
    ['history', 'text'],
    ['attempt_id', 'text'],
  ],
  value: [
    ['branch_id', 'uint'],
    ['position', 'uint'],
  ],
});

export const CALL_KEPT = defineTable({
  name: 'call_kept',
  about:
    'The calls of which a provider keeps something, by the name that later requests have for it: `response:…`, the last item of an answer (`item:…`), or the conversation that it belongs to (`conversation:…`). `bucket` is a hash of the name.',
  key: [
    ['bucket', 'uint'],
    ['kept_as', 'text'],
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [],
});

export const CALL_LINKS = defineTable({
  name: 'call_links',
  about:
    'The call (`parent_…`) that led to the conversation on a branch. `why`: how it is guessed (argument, waiting), said, by the file that it was imported from, or assigned, by whoever corrected it; may continue: the conversation may go on from there; with no parent somebody said that none did.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['parent_history', 'text', 'null'],
    ['parent_branch_id', 'uint', 'null'],
    ['parent_attempt', 'text', 'null'],
    ['why', 'text'],
  ],
});

export const CALL_LED_TO = defineTable({
  name: 'call_led_to',
  about: 'The branches whose conversations an attempt led to; `bucket` is a hash of its id.',
  key: [
    ['bucket', 'uint'],
    ['parent_attempt', 'text'],
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [],
});

export const RUN_BRANCHES = defineTable({
  name: 'run_branches',
  about: 'The newest call of a branch, of those that a run of a program made, and when it was recorded.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['scope', 'text'],
    ['at', 'wide'],
    ['position', 'uint'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
});

export const RUN_CALLS = defineTable({
  name: 'run_calls',
  about:
    'The newest calls of the branches of a run that wait for tools, by the events that ended them: others may be made for these. `bucket` is a hash of the scope, `at` nanoseconds since 1970 in eight bytes.',
  key: [
    ['bucket', 'uint'],
    ['scope', 'text'],
    ['at', 'bytes'],
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
});

export const CALL_TABLES: readonly Table[] = [
  CALLS,
  CALL_ATTEMPTS,
  CALLS_AT,
  CALL_PROMPTS,
  CALL_MESSAGES,
  CALL_ANSWERS,
  CALL_ASKED,
  CALL_FOLLOWED,
  CALL_KEPT,
  CALL_LINKS,
  CALL_LED_TO,
  RUN_BRANCHES,
  RUN_CALLS,
];
