import { programFile } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';

const MAIN = programFile('projector');
const ROWS = 'postgres://stemma@127.0.0.1:1/stemma';

/** How the service ends with a setting: its exit code, and the error that it prints. */
const endWith = (env: Readonly<Record<string, string>>): Promise<{ code: unknown; error: unknown }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN],
      { env: { ...process.env, STEMMA_ROWS: ROWS, ...env } },
      (failure, _stdout, stderr) => {
        resolve({ code: failure?.code, error: JSON.parse(stderr) });
      },
    );
  });

it('a STEMMA_SILENCE_MS that is no whole number from 100 to 999999 ends the service with E_USAGE', async () => {
  for (const value of ['99', '1000000', '6s']) {
    const { code, error } = await endWith({ STEMMA_SILENCE_MS: value });
    expect(code).toBe(64);
    expect(error).toMatchObject({
      error: { code: 'E_USAGE', message: `STEMMA_SILENCE_MS is "${value}", not 100 to 999999` },
    });
  }
});
