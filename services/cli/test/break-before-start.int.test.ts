import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runStemma } from './run-stemma.ts';

const folder = mkdtempSync(join(tmpdir(), 'stemma-break-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['break', '--tool', 'refund'],
  ['steer', 'on'],
])('%s of a history that is not there yet says how one begins', async (command, ...words) => {
  const at = ['--home', join(folder, 'home')];
  expect(await runStemma([command, 'shop', ...words, ...at])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('`stemma start --name NAME` begins one') as string,
  });
  expect((await runStemma(['start', '--name', `shop-${command}`, ...at])).code).toBe(0);
  expect((await runStemma([command, `shop-${command}`, ...words, ...at])).code).toBe(0);
});
