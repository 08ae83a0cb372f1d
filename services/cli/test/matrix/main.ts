import { availableParallelism } from 'node:os';
import { runDamages } from './run-damages.ts';

/*
 * `pnpm damage [COUNT [SEED [PART]]]`: so many damages of a home, picked by the seed; `all` takes every one. PART narrows the
 * files by a part of their path.
 */
const [count = '200', seed = '1', part = ''] = process.argv.slice(2);
const report = await runDamages({
  count: count === 'all' ? Infinity : Number(count),
  seed: Number(seed),
  part,
  workers: Math.max(1, Math.min(availableParallelism(), Number(process.env['STEMMA_WORKERS'] ?? 2))),
  questions: 4,
  say: (line) => console.log(line),
});
console.log(
  `${report.tried} of ${report.all} damages in ${report.files} files: ${report.wrong.length} wrong`,
);
process.exitCode = report.wrong.length === 0 ? 0 : 5;
