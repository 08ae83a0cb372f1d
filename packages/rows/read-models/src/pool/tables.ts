import { defineTable } from '@stemma/row-store';
import type { Table } from '@stemma/row-store';

/*
 * The messages of pools in the order in which they came, the vectors of their texts, and what is measured at every snapshot
 * (pool §7). A branch has the messages of its ancestors up to where it begins; a row of its own takes the place of theirs.
 */

export const POOL_BRANCHES = defineTable({
  name: 'pool_branches',
  about: 'Where a branch begins: behind frame `at` of `parent`. The root has no row.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
  ],
  value: [
    ['parent', 'uint'],
    ['at', 'uint'],
  ],
});

export const POOL_SIZES = defineTable({
  name: 'pool_sizes',
  about:
    'How many messages a branch has after frame `seq`, and the number that the next one gets; a row for each frame that changes it.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
  value: [
    ['next', 'uint'],
    ['messages', 'uint'],
  ],
});

export const POOL_MESSAGES = defineTable({
  name: 'pool_messages',
  about:
    'The message that came as number `ordinal`, from frame `from` on: its node, and the event with its text. No cells: it was removed.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['ordinal', 'uint'],
    ['from', 'uint'],
  ],
  value: [
    ['node', 'text', 'null'],
    ['payload_seq', 'uint', 'null'],
    ['payload_index', 'uint', 'null'],
  ],
});

export const POOL_ORDINALS = defineTable({
  name: 'pool_ordinals',
  about: 'The number under which a node came into the pool, the same on all branches.',
  key: [
    ['history', 'text'],
    ['node', 'text'],
  ],
  value: [['ordinal', 'uint']],
});

export const POOL_TEXTS = defineTable({
  name: 'pool_texts',
  about:
    'What event `index` of frame `seq` says of a message: the SHA-256 of its text, its round, its mind (-1: from outside), its source; `is_seed`: the pool began with it.',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [
    ['content_hash', 'bytes'],
    ['round', 'uint'],
    ['mind_id', 'int'],
    ['source', 'text', 'null'],
    ['is_seed', 'bool'],
  ],
});

export const POOL_SEEDS = defineTable({
  name: 'pool_seeds',
  about: 'The events with the messages that the pool began with (their source is `seed`).',
  key: [
    ['history', 'text'],
    ['seq', 'uint'],
    ['index', 'uint'],
  ],
  value: [['content_hash', 'bytes']],
});

export const POOL_VECTORS = defineTable({
  name: 'pool_vectors',
  about:
    'The embedding of a text, once per text and embedder: float32, little-endian. That of the built-in embedder is made when the text comes, or, of a history that becomes a pool later, then (a pool is what `active_pool_size` is configured of); each other one is recorded; none is made again.',
  key: [
    ['history', 'text'],
    ['embedder', 'text'],
    ['content_hash', 'bytes'],
  ],
  value: [['vector', 'bytes']],
});

export const POOL_EMBEDDERS = defineTable({
  name: 'pool_embedders',
  about:
    'What a history records of an embedder: the dimension of its first vector, the texts that have one, and how many further vectors do not count because their dimension is another (`other_dimension`).',
  key: [
    ['history', 'text'],
    ['embedder', 'text'],
  ],
  value: [
    ['dimension', 'uint'],
    ['texts', 'uint'],
    ['other_dimension', 'uint'],
  ],
});

export const POOL_METRICS = defineTable({
  name: 'pool_metrics',
  about:
    'A snapshot of a pool in figures, by the vectors of its embedder that were there (pool §7.2, §7.3). `added`: messages since the snapshot before; `similarity` and `seed_distance` are theirs. `diversity`, `texts` (different ones) and `attractors` are of the `active` newest messages that have a vector (`embedded`); an attractor has size, coherence, representative and members by number, and the rounds it spans. `attractors` null: more messages are active than are searched at every snapshot.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
  value: [
    ['embedder', 'text'],
    ['cycle', 'uint'],
    ['next', 'uint'],
    ['messages', 'uint'],
    ['active', 'uint'],
    ['embedded', 'uint'],
    ['texts', 'uint'],
    ['added', 'uint'],
    ['similarity', 'number', 'null'],
    ['seed_distance', 'number', 'null'],
    ['diversity', 'number', 'null'],
    ['noise', 'uint', 'null'],
    ['attractors', 'json', 'null'],
  ],
});

export const POOL_TABLES: readonly Table[] = [
  POOL_BRANCHES,
  POOL_SIZES,
  POOL_MESSAGES,
  POOL_ORDINALS,
  POOL_TEXTS,
  POOL_SEEDS,
  POOL_VECTORS,
  POOL_EMBEDDERS,
  POOL_METRICS,
];
