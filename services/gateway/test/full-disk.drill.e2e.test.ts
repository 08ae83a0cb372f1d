import { historyId, type Step } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { isStemmaError } from '@stemma/errors';
import { mountSmallDisk, NO_SMALL_DISK } from '@stemma/test-kit';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createGateway } from '../src/index.ts';

/** Bytes that are left when the disk fills: none, a page, what a commit of rows or a step of the log needs, and around it. */
const LEVELS = [0, 1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200, 256, 280].map(
  (pages) => pages * 4096,
);

const send = (home: Home, name: string, text: string): Promise<unknown> =>
  home.submit({
    id: `start ${name}`,
    history: historyId(name, ''),
    branchId: 0,
    by: { recorder: 'test' },
    steps: [
      { op: 'start', name },
      ...(text === '' ? [] : [{ op: 'config' as const, set: { text } }]),
    ] satisfies Step[],
  });

it.each(LEVELS)(
  'a disk that is full when %i bytes are left ends nothing: reads go on, writes are refused, readiness says it, and all goes on with room',
  { tags: ['decision-0112'], timeout: 120_000 },
  async (left) => {
    const disk = mountSmallDisk(8_000);
    if (disk === undefined) return;
    const directory = join(disk.path, 'home');
    const acknowledged: string[] = [];
    const codes = new Set<string>();
    try {
      const home = await openHome({ directory, create: true, catchUpTimeout: 5_000, say: () => undefined });
      const app = createGateway({ home, report: () => undefined });
      const ask = async (path: string): Promise<readonly [number, string]> => {
        const answer = await app.request(`http://localhost${path}`);
        return [answer.status, await answer.text()];
      };
      const write = async (name: string, text: string): Promise<boolean> => {
        try {
          await send(home, name, text);
          acknowledged.push(name);
          return true;
        } catch (error) {
          codes.add(isStemmaError(error) ? error.code : String(error));
          return false;
        }
      };
      await write('first', '');
      const search = '/api/search?q=first';
      expect((await Promise.all(['/api/histories', search].map(ask))).map(([status]) => status)).toEqual([
        200, 200,
      ]);
      disk.fill(left);
      // The log has a step of a MiB that it may still fill.
      for (let i = 0, refused = 0; i < 400 && refused < 3; i++)
        if (!(await write(`n${i}`, 'x'.repeat(30_000)))) refused++;
      expect([...codes]).toEqual(['E_IO']);
      const paths = ['/api/histories', '/api/histories/first', '/api/stats', search, '/health/live'];
      const answers = await Promise.all(paths.map(ask));
      expect(answers.map(([status]) => status)).toEqual(paths.map(() => 200));
      expect(answers[3]?.[1]).toContain('"name":"first"');
      expect(await ask('/health/ready')).toEqual([
        503,
        expect.stringMatching(/"code":"E_(IO|ROWS_UNWRITABLE)"/),
      ]);
      disk.free();
      await expect.poll(() => ask('/health/ready'), { timeout: 60_000 }).toEqual([200, '{"status":"ready"}']);
      expect(await write('after', '')).toBe(true);
      await home.close();
      const again = await openHome({ directory, say: () => undefined });
      const names = (await again.read.histories()).map(({ name }) => name);
      expect(new Set(names)).toEqual(new Set(acknowledged));
      expect((await again.operations.verify()).problems).toEqual([]);
      await again.close();
    } finally {
      disk.close();
    }
  },
);

it('the drill of full disks ran', ({ skip }) => {
  const disk = mountSmallDisk(64);
  disk?.close();
  if (disk === undefined) skip(NO_SMALL_DISK);
});
