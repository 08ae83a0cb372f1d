import type { EquivalentMutant } from './equivalent-mutant.ts';

export const ROWS: readonly EquivalentMutant[] = [
  {
    file: 'packages/rows/row-store/src/remote-rows.ts',
    original: 'Math.floor(BYTES_AHEAD / (rowBytes.get(table.name) ?? 256))',
    replacement: 'Math.ceil(BYTES_AHEAD / (rowBytes.get(table.name) ?? 256))',
    reason: 'one row more is fetched ahead, of those that fill about 2 MiB: only work',
  },
  {
    file: 'packages/storage/row-store-lmdb/src/lmdb-environment.ts',
    original: 'gate.pass(() => {\n        if (!entered.isShared()) noteClosed(folder, file);\n      });',
    replacement: '',
    reason: 'a file that is not noted as closed is read through when it is opened: only work',
  },
  {
    file: 'packages/storage/row-store-lmdb/src/lmdb-environment.ts',
    original: 'error instanceof Error',
    replacement: 'true',
    reason: 'lmdb throws nothing but errors',
  },
  {
    file: 'packages/rows/row-store/src/remote-rows.ts',
    original: '1',
    replacement: '2',
    line: 'Math.max(1, bytes',
    reason:
      'two bytes a row read ahead as many rows as one byte does: the number of rows has a limit of its own',
  },
];
