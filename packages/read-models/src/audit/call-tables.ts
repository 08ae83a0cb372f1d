import { defineTable, type Table } from '@stemma/row-store';

export const CALLS = defineTable({
  name: 'calls',
  about:
    'An attempt to call a model: the event `index` of frame `seq`, with the position (`branch_id`, `position`) that it was called with. `tools_seq`, `tools_index`: the event that has the tools. `match`: how a recorder found the branch, among the calls of `scope`; null: nobody looked for it. What is known of its end begins with `status`, which is null while nobody has recorded one; `finished_seq` and `finished_index` are the event that did. Tokens and milliseconds as recorded.',
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
    ['status', 'text', 'null'],
    ['finished_seq', 'uint', 'null'],
    ['finished_index', 'uint', 'null'],
    ['http_status', 'uint', 'null'],
    ['finish_reason', 'text', 'null'],
    ['answer_model', 'text', 'null'],
    ['input_tokens', 'uint', 'null'],
    ['output_tokens', 'uint', 'null'],
    ['cached_tokens', 'uint', 'null'],
    ['cache_write_tokens', 'uint', 'null'],
    ['reasoning_tokens', 'uint', 'null'],
    ['first_byte_ms', 'uint', 'null'],
    ['duration_ms', 'uint', 'null'],
    ['response_sha256', 'bytes', 'null'],
    ['response_size', 'uint', 'null'],
    ['error_code', 'text', 'null'],
    ['error_message', 'text', 'null'],
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
  about: 'The attempts with the snapshot or draft at a position, in the order they were recorded.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['position', 'uint'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [],
});

/** A row's `bucket` is the first byte of its hash: no range goes over histories, and nobody reads all of them. */
export const CALL_PROMPTS = defineTable({
  name: 'call_prompts',
  about:
    'The calls whose list of messages has a hash, in the order they were recorded: `list` is its first 16 bytes, over the scope in which the next call of a conversation is looked for.',
  key: [
    ['bucket', 'uint'],
    ['list', 'bytes'],
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
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [],
});

export const CALL_TABLES: readonly Table[] = [CALLS, CALL_ATTEMPTS, CALLS_AT, CALL_PROMPTS, CALL_MESSAGES];
