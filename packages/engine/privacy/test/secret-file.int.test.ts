import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { secretOf } from '../src/secret-file.ts';

let home = '';
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'stemma-secret-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('a secret is the same whenever it is asked for, and none is taken for it when a byte of its file is another or missing', async () => {
  const secret = await secretOf(home, 'labels');
  expect(await secretOf(home, 'labels')).toEqual(secret);
  expect(secret).toHaveLength(32);
  const file = join(home, 'keys', 'labels');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const whole = readFileSync(file);
  const damaged = { code: 'E_IO', message: expect.stringContaining('is damaged') as string };
  for (let at = 0; at < whole.length; at++) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] as number) ^ 4;
    writeFileSync(file, flipped);
    await expect(secretOf(home, 'labels')).rejects.toMatchObject(damaged);
    writeFileSync(file, whole.subarray(0, at));
    // What was written before there were checksums is taken, and is the same secret.
    if (at === 32) expect(await secretOf(home, 'labels')).toEqual(secret);
    else await expect(secretOf(home, 'labels')).rejects.toMatchObject(damaged);
  }
  writeFileSync(file, Buffer.alloc(whole.length));
  await expect(secretOf(home, 'labels')).rejects.toMatchObject(damaged);
});
