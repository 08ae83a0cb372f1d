import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endRun, startRun } from '@stemma/test-kit';

/** One folder a run of vitest: a test that needs a Kafka broker starts it there, all share it, and it ends with the run. */
export default function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stemma-run-'));
  startRun(folder);
  return () => endRun(folder);
}
