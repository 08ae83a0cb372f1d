/**
 * Writes labels.json: what scikit-learn says of the data sets. `node test/data-sets/main.ts [PYTHON]`; how Python is prepared
 * stands in scikit_learn_labels.py.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npyBytes } from '../../src/index.ts';
import { dataSets } from './shapes.ts';

const folder = mkdtempSync(join(tmpdir(), 'stemma-data-sets-'));
const sets = dataSets();
for (const [i, { vectors }] of sets.entries()) writeFileSync(join(folder, `${i}.npy`), npyBytes(vectors));
writeFileSync(
  join(folder, 'data-sets.json'),
  JSON.stringify(sets.map(({ name, options }) => ({ name, options }))),
);
const labels = execFileSync(
  process.argv[2] ?? 'python3',
  [join(import.meta.dirname, 'scikit_learn_labels.py'), folder],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
writeFileSync(join(import.meta.dirname, 'labels.json'), labels);
rmSync(folder, { recursive: true });
