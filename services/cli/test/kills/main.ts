import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NO_ANOMALIES } from '@stemma/test-kit';
import { runKills } from './run-kills.ts';

/* `pnpm kills [--count N] [--seed S]`: kills processes of a home at any moment and compares it with what they acknowledged. */
const { values } = parseArgs({
  options: { count: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const folder = mkdtempSync(join(tmpdir(), 'stemma-kills-'));
try {
  const report = await runKills(join(folder, 'home'), {
    count: Number(values.count),
    seed: Number(values.seed),
    say: (line) => console.log(line),
  });
  console.log(JSON.stringify(report, null, 2));
  const isRight =
    JSON.stringify(report.anomalies) === JSON.stringify(NO_ANOMALIES) &&
    report.differences === 0 &&
    report.problems.length === 0;
  process.exitCode = isRight ? 0 : 5;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
