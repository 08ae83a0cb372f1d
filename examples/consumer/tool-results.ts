import type { ReadModel } from '@stemma/read-models';
import { defineTable } from '@stemma/row-store';

/** What tool results added to each model call: how many there were, and how many characters they have. */
export const TOOL_RESULTS = defineTable({
  name: 'tool_results',
  about: 'How many tool results a cycle brought into a branch, and how many characters they have together.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['cycle', 'uint'],
  ],
  value: [
    ['results', 'uint'],
    ['characters', 'uint'],
  ],
});

/** A read model of one's own is the default export of a module. Raise `version` when the rows would differ. */
const toolResults: ReadModel = {
  name: 'tool-results',
  version: 1,
  tables: [TOOL_RESULTS],
  fold: ({ history, branchId, events }, rows) => {
    for (const event of events) {
      if (event.type !== 'NodeInserted' || event.node.role !== 'tool') continue;
      const key = [history, branchId, event.node.cycle] as const;
      const [results, characters] = rows.get(TOOL_RESULTS, key) ?? [0, 0];
      rows.put(TOOL_RESULTS, key, [results + 1, characters + lengthOf(event.node['content'])]);
    }
  },
};

export default toolResults;

const lengthOf = (content: unknown): number =>
  typeof content === 'string' ? content.length : JSON.stringify(content ?? null).length;
