import { describeRowStore } from '@stemma/row-store/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbRowStore } from './lmdb-row-store.ts';

describeRowStore('on lmdb', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-rows-'));
  return {
    open: () => openLmdbRowStore({ directory }),
    another: () => openLmdbRowStore({ directory }),
    cleanUp: () => rmSync(directory, { recursive: true, force: true }),
  };
});
