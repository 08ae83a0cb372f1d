import { describeEventLog } from '@stemma/log/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedLog } from '../src/index.ts';

let directory = '';
describeEventLog('the embedded log', {
  create: (partitions) => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-log-'));
    return openEmbeddedLog({ directory, partitions });
  },
  reopen: () => openEmbeddedLog({ directory }),
  destroy: async () => {
    rmSync(directory, { recursive: true, force: true });
  },
});
