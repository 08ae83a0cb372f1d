import { defineTable, type Table } from '@stemma/row-store';

export const IMPORTS = defineTable({
  name: 'imports',
  about:
    'What the file had that a history was imported from: the newest event that says so, `index` of frame `seq`. `format` and `version` of the file, its `title`, and `summary`, the counts of the import (imports §1): an absent key is one that the file says nothing of.',
  key: [['history', 'text']],
  value: [
    ['seq', 'uint'],
    ['index', 'uint'],
    ['format', 'text'],
    ['version', 'text', 'null'],
    ['title', 'text', 'null'],
    ['summary', 'json'],
  ],
});

export const IMPORT_TABLES: readonly Table[] = [IMPORTS];
