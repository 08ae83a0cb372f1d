import { historyId, type Step } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { programFile } from '@stemma/test-kit';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGateway } from '../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-full-disk-'));
const rows = join(directory, 'rows');
const mount = (...args: readonly string[]): boolean =>
  spawnSync('mount', args, { timeout: 10_000 }).status === 0;
mkdirSync(rows);
const mounted = mount('-t', 'tmpfs', '-o', 'size=1200k', 'tmpfs', rows);

let home: Home;
const said: string[] = [];
beforeAll(async () => {
  if (mounted)
    home = await openHome({
      directory,
      create: true,
      catchUpTimeout: 5_000,
      say: (text) => void said.push(text),
    });
});
afterAll(async () => {
  await (home as Home | undefined)?.close();
  if (mounted) spawnSync('umount', ['-l', rows], { timeout: 10_000 });
  rmSync(directory, { recursive: true, force: true });
});

const send = (name: string, id: string, steps: Step[]): Promise<unknown> =>
  home.submit({
    id: `${name}:${id}`,
    history: historyId(name, ''),
    branchId: 0,
    by: { recorder: 'test' },
    steps,
  });

const NOT_MOUNTED = 'only root may mount a file system of a known size';

it(
  'when the disk is too full for rows, the gateway answers from the existing rows, readiness reports the problem, and writing rows resumes when there is room',
  { tags: ['decision-0053'], timeout: 30_000 },
  async ({ skip }) => {
    if (!mounted) skip(NOT_MOUNTED);
    const app = createGateway({ home, report: (error) => said.push(String(error)) });
    const ask = async (path: string): Promise<readonly [number, string]> => {
      const answer = await app.request(`http://localhost${path}`);
      return [answer.status, await answer.text()];
    };
    await send('first', 'start', [{ op: 'start', name: 'first' }]);
    expect((await ask('/api/histories'))[0]).toBe(200);
    expect(await ask('/health/ready')).toEqual([200, '{"status":"ready"}']);
    const { bavail, bsize } = statfsSync(rows);
    writeFileSync(join(rows, 'ballast'), Buffer.alloc(bavail * bsize - 8192));

    for (let i = 0; i < 40; i++) await send(`more${i}`, 'start', [{ op: 'start', name: `more${i}` }]);
    const during = await Promise.all(
      ['/api/histories', '/api/histories/first', '/api/stats', '/api/doctor', '/health/live'].map(ask),
    );
    expect(during.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(during[0]?.[1]).toContain('"first"');
    const [status, reason] = await ask('/health/ready');
    expect([status, reason]).toEqual([503, expect.stringContaining('E_ROWS_UNWRITABLE')]);
    expect(during[3]?.[1]).toMatch(/the disk of .* has .* left/);
    expect(said).toEqual([
      expect.stringMatching(/^the rows cannot be written: .*: answers show what the rows had before$/),
    ]);

    rmSync(join(rows, 'ballast'));
    await expect.poll(() => ask('/health/ready'), { timeout: 10_000 }).toEqual([200, '{"status":"ready"}']);
    expect((await ask('/api/histories/more39'))[0]).toBe(200);
    expect(said.at(-1)).toBe('the rows are written again');
  },
);

it('when the disk is full at the start, the rows are refused with a coded error, and the process is not killed by a signal', async ({
  skip,
}) => {
  if (!mounted) skip(NOT_MOUNTED);
  const full = join(directory, 'full');
  mkdirSync(full);
  expect(mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full)).toBe(true);
  try {
    writeFileSync(join(full, 'ballast'), Buffer.alloc(32 * 1024));
    const { status, signal, stderr } = spawnSync(
      process.execPath,
      [
        programFile('stemma'),
        'import',
        join(import.meta.dirname, '../../../samples/harbour-tram.chat.json'),
        '--home',
        full,
      ],
      { encoding: 'utf8', timeout: 20_000 },
    );
    expect({ status, signal }).toEqual({ status: 74, signal: null });
    expect(stderr).toMatch(/ENOSPC|No space/i);
  } finally {
    spawnSync('umount', ['-l', full], { timeout: 10_000 });
  }
}, 30_000);
