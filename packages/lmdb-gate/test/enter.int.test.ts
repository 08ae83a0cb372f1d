import { open, type RootDatabase } from 'lmdb';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { enterEnvironment, filesOfFile } from '../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-enter-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const fileIn = (folder: string): string => join(folder, 'rows.mdb');

/** Opens the environment; `isKnown` is asked before it is mapped. */
const enter = (isKnown: (folder: string) => boolean) => {
  const said: string[] = [];
  const entered = enterEnvironment<RootDatabase>({
    directory,
    filesIn: (folder) => filesOfFile(fileIn(folder), 8),
    isKnown,
    open: (folder) => open({ path: fileIn(folder), noSubdir: true }),
    replaced: (damage) => said.push(damage),
    copied: () => said.push('copied'),
  });
  return { ...entered, said };
};

it('a damaged environment whose note cannot be removed is put aside, and the process goes on [decision 0053]', async () => {
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
});
