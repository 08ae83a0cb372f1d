import { openHome } from '@stemma/home';
import { filesHolding } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { MAIN, runStemma, temporaryFolder } from './run-stemma.ts';

const opened = async () => {
  const folder = temporaryFolder();
  const home = join(folder.path, 'home');
  const file = join(folder.path, 'chat.json');
  const messages = Array.from({ length: 200 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `message ${i}`,
  }));
  writeFileSync(file, JSON.stringify(messages));
  const must = async (...args: string[]): Promise<string> => {
    const done = await runStemma([...args, '--home', home]);
    if (done.code !== 0) throw new Error(`${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };
  await must('import', file, '--history', 'planted-name', '--erasable');
  return { folder, home, must, [Symbol.dispose]: () => folder[Symbol.dispose]() };
};

const scratchIn = (home: string): string[] => readdirSync(home).filter((name) => name.startsWith('replay-'));

/** False too while a file of it is being made or removed. */
const holdsText = (folder: string): boolean => {
  try {
    return filesHolding(folder, ['planted-name']).length > 0;
  } catch {
    return false;
  }
};

/** Compares rows with the log, and is killed when the rows that it makes for that have the text. */
const killReplay = async (home: string): Promise<void> => {
  const batches = Array.from({ length: 1000 }, () => '1').join();
  const child = spawn(process.execPath, [MAIN, 'replay', '--verify', '--batches', batches, '--home', home]);
  const ended = once(child, 'exit');
  try {
    await vi.waitUntil(() => scratchIn(home).some((name) => holdsText(join(home, name))), {
      timeout: 30_000,
      interval: 20,
    });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
};

test('opening a home removes the scratch files of a killed comparison', async () => {
  using place = await opened();
  await killReplay(place.home);
  expect(scratchIn(place.home).length).toBe(1);
  await place.must('doctor');
  expect(scratchIn(place.home)).toEqual([]);
});

test('erasing a history removes the scratch files that a killed comparison left of it, although the home stays open', async () => {
  using place = await opened();
  const home = await openHome({ directory: place.home });
  const { history } = await home.find('planted-name');
  await killReplay(place.home);
  await home.submit({ id: 'e', history, branchId: 0, by: { actor: 'officer' }, steps: [{ op: 'erase' }] });
  await home.close();
  expect(filesHolding(place.home, ['planted-name'])).toEqual([]);
});
