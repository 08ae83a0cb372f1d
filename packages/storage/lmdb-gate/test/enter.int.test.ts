import { open, type RootDatabase } from 'lmdb';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { enterEnvironment, filesOfFile } from '../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-enter-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const fileIn = (folder: string): string => join(folder, 'rows.mdb');

/** Opens the environment; `isOutdated` is asked before it is entered, `isKnown` before it is mapped. */
const enter = (
  isKnown: (folder: string) => boolean,
  isOutdated: (folder: string) => boolean = () => false,
) => {
  const said: string[] = [];
  const entered = enterEnvironment<RootDatabase>({
    directory,
    filesIn: (folder) => filesOfFile(fileIn(folder), 8),
    isKnown,
    isOutdated,
    open: (folder) => open({ path: fileIn(folder), noSubdir: true, maxReaders: 8 }),
    replaced: (damage) => said.push(damage),
    copied: () => said.push('copied'),
  });
  return { ...entered, said };
};

it(
  'a damaged environment whose note cannot be removed is put aside, and the process goes on',
  { tags: ['decision-0053'] },
  async () => {
    const first = enter(() => true);
    await first.opened.close();
    await first.leave();
    writeFileSync(fileIn(first.folder), Buffer.alloc(8192));
    const rejected: unknown[] = [];
    const note = (error: unknown): void => void rejected.push(error);
    process.on('unhandledRejection', note);
    try {
      const second = enter((folder) => {
        if (folder !== first.folder) return true;
        const users = join(folder, 'users');
        for (const name of readdirSync(users)) {
          rmSync(join(users, name));
          mkdirSync(join(users, name, 'in the way'), { recursive: true });
        }
        return false;
      });
      expect(second.folder).not.toBe(first.folder);
      expect(second.said).toHaveLength(1);
      await second.opened.close();
      await second.leave();
      // Node.js tells of a rejection in the turn after it.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(rejected).toEqual([]);
  },
);

it('of two processes that begin at once, the one that finds its folder gone takes the folder that the other one has made', async () => {
  const first = enter(() => true);
  await first.opened.close();
  await first.leave();
  const made = join(directory, String(Number(basename(first.folder)) + 1));
  const second = enter(
    () => true,
    (folder) => {
      if (folder === first.folder) renameSync(folder, made);
      return false;
    },
  );
  expect([second.folder, second.said]).toEqual([made, []]);
  await second.opened.close();
  await second.leave();
});
