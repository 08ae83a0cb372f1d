import { defineTable } from '@stemma/row-store';
import type { Table } from '@stemma/row-store';

/*
 * What calls were shown, in numbers. A row has the sums over the whole thread, so that a page of calls reads a row for each, and
 * nothing of the history before.
 */

export const PROMPT_SIZES = defineTable({
  name: 'prompt_sizes',
  about:
    'What a full thread shows from a frame on: a row for each frame that changes it, starts a branch or ends a cycle. `messages`; their `bytes` in the thread, without what stands between them; their `tokens` (o200k_base), the same by who says them and those under `^sys`. `entered`, `removed`: messages that the newest snapshot does not have, and those that only it has; at the end of a cycle, against the snapshot before. `since`: the frame of that snapshot, or the one that starts the branch if that is newer. `turn`, `head`: tokens of the newest turn and of the head, where the frame ends a cycle. `came`: the nodes that entered, in a frame that starts a branch all since the newest snapshot. `parent`, `at`: the position that a branch starts from. `came_tokens`, `gone_tokens`: tokens of the messages that entered, and of those that were removed; `gone_by`: how many of these, by what removed them. Of the messages that came since: `said`, the texts of the model; `tools`, the calls of tools with the state of their results; `summaries`, those of the kind `summary`.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
  value: [
    ['messages', 'uint'],
    ['bytes', 'uint'],
    ['tokens', 'uint'],
    ['by_system', 'uint'],
    ['by_user', 'uint'],
    ['by_assistant', 'uint'],
    ['by_tool', 'uint'],
    ['by_other', 'uint'],
    ['sys', 'uint'],
    ['entered', 'uint'],
    ['removed', 'uint'],
    ['since', 'uint'],
    ['turn', 'uint', 'null'],
    ['head', 'uint', 'null'],
    ['came', 'json', 'null'],
    ['parent', 'uint', 'null'],
    ['at', 'uint', 'null'],
    ['came_tokens', 'uint'],
    ['gone_tokens', 'uint'],
    ['gone_by', 'json', 'null'],
    ['said', 'uint'],
    ['tools', 'json', 'null'],
    ['summaries', 'uint'],
  ],
  packed: true,
});

export const SIZE_HEADS = defineTable({
  name: 'size_heads',
  about: 'The frame of the newest row of a branch in `prompt_sizes`.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [['seq', 'uint']],
  rewritten: true,
});

export const SIZES_TABLES: readonly Table[] = [PROMPT_SIZES, SIZE_HEADS];
