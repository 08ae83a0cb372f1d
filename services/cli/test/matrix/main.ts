import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runDamages } from './run-damages.ts';

/*
 * `pnpm damage [COUNT [SEED [PART]]] [--folder DIR] [--from N] [--shard I/N]`: so many damages of a home, picked by the seed; `all`
 * takes every one. PART narrows the files by a part of their path. With a folder, another run goes on where one ended; `--from`
 * leaves out the first N of those picked; of N shards, each run with the same folder, this one is the Ith, from 0.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string' },
    from: { type: 'string', default: '0' },
    shard: { type: 'string', default: '0/1' },
  },
});
const [count = '200', seed = '1', part = ''] = positionals;
const [number = 0, of = 1] = values.shard.split('/').map(Number);
const report = await runDamages({
  count: count === 'all' ? Infinity : Number(count),
  seed: Number(seed),
  part,
  workers: Math.max(1, Math.min(availableParallelism(), Number(process.env['STEMMA_WORKERS'] ?? 2))),
  questions: 4,
  oneThread: true,
  shard: { number, of },
  from: Number(values.from),
  ...(values.folder !== undefined && { folder: values.folder }),
  say: (line) => console.log(line),
});
console.log(
  `${report.tried} of ${report.all} damages in ${report.files} files: ${report.wrong.length} wrong`,
);
process.exitCode = report.wrong.length === 0 ? 0 : 5;
