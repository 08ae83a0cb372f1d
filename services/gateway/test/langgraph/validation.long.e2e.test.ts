import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openRecording } from '../recording/fixture.ts';

const RUN = join(import.meta.dirname, '../../../../packages/agents/langgraph/test/validation/run.ts');

test('the saver passes all that LangGraph checks of savers', { timeout: 600_000 }, async () => {
  const at = openRecording();
  try {
    const env = { ...process.env, STEMMA_URL: await at.serve(), NO_COLOR: '1' };
    const { stdout } = await promisify(execFile)(process.execPath, [RUN], {
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(stdout).toMatch(/Tests\s+7\d\d passed \(7\d\d\)/);
  } finally {
    await at.close();
  }
});
