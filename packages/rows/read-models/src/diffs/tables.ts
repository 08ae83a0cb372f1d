import { defineTable } from '@stemma/row-store';
import type { Table } from '@stemma/row-store';

/*
 * What happened to each node, and why (context-tree §3: one cause). Everything a recorded event did to a node stands in a row,
 * its insertion in that of the frame; ageing and the sealing of nodes in the head write none: they follow from `expires`, `seals` and the history store's `snapshots`.
 */

export const TIMELINE = defineTable({
  name: 'timeline',
  about:
    'What event `index` of frame `seq` did to a node. `what`: start, import, insert, seal (it came; seal is a turn) · replace, move, carry (its container `by` was moved), priority, hold (because of `by`) · remove (with `by`, if it only lay in it), expire, contained, emptied (because of `by`), prune (as number `rank`). `cycle`: the one that ran. `parent`, `ttl`, `expires`, `priority`: as they are from here on, where the event sets them; `expires` is the first cycle without the node. `seals`: it lies directly in the head, and the commit of this cycle puts it under a turn. `fields`: what a replacement set, of a container. How a node came stands in `changed_nodes` instead, unless the frame inserted more than 64; the view that SQL sees has both.',
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
  view: `select history, node, seq, "index", branch_id, what, cycle, parent, seals, ttl, expires, priority, "by", rank, fields
    from $.timeline
    union all
    select c.history, $.text_of(i.node) collate "C", c.seq, (i.cells ->> 0)::bigint, c.branch_id, (i.cells ->> 1) collate "C",
      c.cycle, $.text_of(i.cells -> 2) collate "C", c.cycle + (i.cells ->> 3)::bigint, (i.cells ->> 4)::bigint,
      c.cycle + (i.cells ->> 5)::bigint, (i.cells ->> 6)::double precision, null collate "C", null, null
    from $.changed_nodes c,
      rows from (json_array_elements(c.nodes), json_array_elements(c.inserted)) as i (node, cells)
    where i.cells is not null`,
});

export const CHANGED_NODES = defineTable({
  name: 'changed_nodes',
  about:
    'The nodes that a frame did something to, each once: first those that it inserted, then the others, each in the order in which it did; no row for a frame that touched none. `cycle` as in `timeline`. `inserted` has a list for each of the first: `index`, `what`, `parent`, `seals`, `ttl`, `expires`, `priority` as in `timeline`, without nulls at the end, `seals` and `expires` less `cycle`; null: there is none, or there are more than 64, which have rows of `timeline`.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
  value: [
    ['nodes', 'json'],
    ['cycle', 'uint'],
    ['inserted', 'json', 'null'],
  ],
  packed: true,
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
