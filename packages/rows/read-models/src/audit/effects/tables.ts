import { defineTable, type Table } from '@stemma/row-store';

export const WORKSPACE_SNAPSHOTS = defineTable({
  name: 'workspace_snapshots',
  about:
    'A part of a snapshot of the workspace of a run, which the event `index` of frame `seq` has: of the first, number 0, all files; of later ones those that changed. `started_at`: when it was begun, and `since`: when the look at the files before it was, in milliseconds since 1970. `files`: how many the part has, `first`: the path of the first of them, by code point.',
  key: [
    ['history', 'text'],
    ['run', 'text'],
    ['snapshot', 'uint'],
    ['part', 'uint'],
  ],
  value: [
    ['seq', 'uint'],
    ['index', 'uint'],
    ['parts', 'uint'],
    ['started_at', 'uint'],
    ['since', 'uint', 'null'],
    ['files', 'uint'],
    ['first', 'text', 'null'],
  ],
});

export const FILE_CHANGES = defineTable({
  name: 'file_changes',
  about:
    'A file that changed while a program ran: number `number` in the list of the event `index` of frame `seq`. `path_hash`: the first 8 bytes of the SHA-256 of its path.',
  key: [
    ['history', 'text'],
    ['path_hash', 'bytes'],
    ['seq', 'uint'],
    ['index', 'uint'],
    ['number', 'uint'],
  ],
  value: [
    ['run', 'text'],
    ['snapshot', 'uint'],
    ['path', 'text'],
    ['change', 'text'],
  ],
});

export const EFFECT_TABLES: readonly Table[] = [WORKSPACE_SNAPSHOTS, FILE_CHANGES];
