/**
 * The mapping of context-tree §9. A changed mapping gets another version: the same file always gives the same hashes.
 */
export const MAPPING = 'openai-chat@1';

/** That of message lists with messages of parts (`{role, parts}`, or calls in the content). */
export const PARTS_MAPPING = 'openai-chat@2';

/** Roles whose messages at the head of a list go under `^sys` (context-tree §9). */
export const SYSTEM_ROLES: ReadonlySet<string> = new Set(['system', 'developer']);

/** Roles whose message is the answer to a call: one block of kind `result`. */
export const RESULT_ROLES: ReadonlySet<string> = new Set(['tool', 'function']);

/** Fields of a message that the API defines; others are kept too and reported as unknown. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'audio',
  'annotations',
  // What the readers of other APIs note, so that a request has their order and form again.
  'items',
  'item',
  'same_message',
  'is_error',
]);

/** Types of content parts that the APIs have. */
export const KNOWN_PARTS: ReadonlySet<string> = new Set([
  'text',
  'image_url',
  'input_audio',
  'file',
  'refusal',
  'thinking',
  'redacted_thinking',
  'reasoning',
  'input_text',
  'output_text',
  'input_image',
  'input_file',
  'image',
  'document',
]);

/** Fields that get an attribute of their own when they are texts, so that selectors find them. */
export const NAMED_FIELDS = { name: 'data_name', tool_call_id: 'data_tool_call_id' } as const;

/**
 * How the content of a message is made of its blocks, in `data_message` of the first: `whole` = it is the content of
 * the one text or result block, `parts` = the list of all text blocks, `null` and `absent` = there is no such block.
 */
export type ContentForm = 'whole' | 'parts' | 'null' | 'absent';
