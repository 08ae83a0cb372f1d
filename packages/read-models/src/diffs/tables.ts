import { defineTable } from '@stemma/row-store';
import type { Table } from '@stemma/row-store';

/*
 * What happened to each node, and why (context-tree §3: one cause). A row for everything a recorded event did to a
 * node; ageing and the sealing of nodes in the head write none: they follow from `expires`, `seals` and the history store's `snapshots`.
 */

export const TIMELINE = defineTable({
  name: 'timeline',
  about:
    'What event `index` of frame `seq` did to a node. `what`: start, import, insert, seal (it came; seal is a turn) · replace, move, carry (its container `by` was moved), priority, hold (because of `by`) · remove (with `by`, if it only lay in it), expire, contained, emptied (because of `by`), prune (as number `rank`). `cycle`: the one that ran. `parent`, `ttl`, `expires`, `priority`: as they are from here on, where the event sets them; `expires` is the first cycle without the node. `seals`: it lies directly in the head, and the commit of this cycle puts it under a turn. `fields`: what a replacement set, of a container.',
  key: [
    ['history', 'text'],
    ['node', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [
    ['branch_id', 'uint'],
    ['what', 'text'],
    ['cycle', 'uint'],
    ['parent', 'text', 'null'],
    ['seals', 'uint', 'null'],
    ['ttl', 'uint', 'null'],
    ['expires', 'uint', 'null'],
    ['priority', 'number', 'null'],
    ['by', 'text', 'null'],
    ['rank', 'uint', 'null'],
    ['fields', 'json', 'null'],
  ],
  packed: true,
});

export const CHANGED_NODES = defineTable({
  name: 'changed_nodes',
  about:
    'The nodes that a frame did something to, each once, in the order in which it did; no row for a frame that touched none.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
  value: [['nodes', 'json']],
});

export const DUE = defineTable({
  name: 'due',
  about:
    'A node that frame `seq` made end with a cycle: what grows older is found from the next cycle on. `expires` is the first cycle without it, unless something happens to it before; `ttl` what it shows when it begins to age.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['expires', 'uint'],
    ['seq', 'uint'],
    ['node', 'text'],
  ],
  value: [['ttl', 'uint', 'null']],
});

export const DIFFS_TABLES: readonly Table[] = [TIMELINE, CHANGED_NODES, DUE];
