import { noteIntent } from '@stemma/log/contract';
import { sized } from '@stemma/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '../src/index.ts';
import {
  makeDirectory,
  notesOf,
  noteWriter,
  removeDirectories,
  report,
  runChild,
  type Child,
} from './kit.ts';

afterEach(removeDirectories);

const KILLS = Number(process.env['STEMMA_KILLS'] ?? sized(8, 60));
const ALONE = Math.ceil(KILLS / 4);

/** Every acknowledged line stands in the log at its seq, each command once. */
const expectAcknowledged = async (directory: string, lines: readonly string[]): Promise<void> => {
  const log = await openEmbeddedLog({ directory });
  const acknowledged = lines.map(
    (line) => line.split(' ') as [history: string, seq: string, command: string],
  );
  const notes = await notesOf(log, [...new Set(acknowledged.map(([history]) => history))]);
  expect(acknowledged.filter(([history, seq, command]) => notes[history]?.[Number(seq)] !== command)).toEqual(
    [],
  );
  for (const list of Object.values(notes)) expect(new Set(list).size).toBe(list.length);
  expect((await report(log)).problems).toEqual([]);
  await log.close();
};

describe('processes side by side', () => {
  it(
    'append to one history without losing, splitting or repeating a record',
    { tags: ['record§3:outcome'] },
    async () => {
      const directory = makeDirectory();
      const children = ['a', 'b', 'c'].map((name) => runChild('notes.ts', [directory, name, '200']));
      expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
      const lines = children.flatMap((child) => child.lines());
      expect(lines).toHaveLength(600);
      await expectAcknowledged(directory, lines);
    },
  );

  it(
    `lose no acknowledged record when ${KILLS} of them are killed at random moments`,
    { tags: ['record§6:killed', 'record§6:durable'], timeout: 600_000 },
    async () => {
      const directory = makeDirectory();
      const lines: string[] = [];
      let started = 0;
      const run = async (): Promise<void> => {
        while (started < KILLS) {
          const child: Child = runChild('notes.ts', [directory, `k${started++}`]);
          await child.said(1 + Math.floor(Math.random() * 60));
          child.process.kill('SIGKILL');
          await child.ended;
          expect(child.errors()).toBe('');
          lines.push(...child.lines());
        }
      };
      await Promise.all([run(), run(), run()]);
      expect(lines.length).toBeGreaterThan(KILLS);
      await expectAcknowledged(directory, lines);
    },
  );

  it(
    `lose no acknowledged record when ${ALONE} that write alone, one note at a time, are killed one after the other`,
    { tags: ['record§6:killed', 'record§6:durable'], timeout: 600_000 },
    async () => {
      const directory = makeDirectory();
      const lines: string[] = [];
      for (let i = 0; i < ALONE; i++) {
        const child = runChild('notes.ts', [directory, `k${i}`, '1000000', '1']);
        // After some notes it appends in its own thread.
        await child.said(20 + Math.floor(Math.random() * 200));
        child.process.kill('SIGKILL');
        await child.ended;
        expect(child.errors()).toBe('');
        lines.push(...child.lines());
      }
      await expectAcknowledged(directory, lines);
    },
  );

  it('see soon what another process appended', { tags: ['record§6'] }, async () => {
    const directory = makeDirectory();
    const log = await openEmbeddedLog({ directory });
    const child = runChild('notes.ts', [directory, 'x', '5']);
    const seen: number[] = [];
    const never = new AbortController().signal;
    for (let end = await log.end(0), i = 0; i < 1; i++) {
      await log.wait(0, end, never);
      end = await log.end(0);
      seen.push(end);
    }
    expect(await child.ended).toBe(0);
    expect(seen[0]).toBeGreaterThan(0);
    await log.close();
  });

  it(
    'wait a limited time for a stopped process that holds the lock, name it, never take its lock, and go on when it is gone',
    { tags: ['record§6:busy'] },
    async () => {
      const directory = makeDirectory();
      const log = await openEmbeddedLog({ directory, busyAfter: 300 });
      const writer = await noteWriter(log);
      await writer.write(noteIntent('h', 'a', 'before'));
      const holder = runChild('hold.ts', [directory]);
      await holder.said(1);
      holder.process.kill('SIGSTOP');
      let ticks = 0;
      const timer = setInterval(() => ticks++, 10);
      await expect(writer.write(noteIntent('h', 'b', 'while it is held'))).rejects.toMatchObject({
        code: 'E_LOG_BUSY',
        detail: { pid: holder.process.pid },
      });
      clearInterval(timer);
      // The process's own thread went on all the while.
      expect(ticks).toBeGreaterThan(2);
      holder.process.kill('SIGKILL');
      await holder.ended;
      expect((await writer.write(noteIntent('h', 'b', 'after'))).seq).toBe(1);
      await log.close();
    },
  );
});

describe('a disk that refuses', () => {
  it(
    'to sync ends the process, which acknowledges nothing more',
    { tags: ['record§6:failed-sync', 'record§6:durable'] },
    async () => {
      const directory = makeDirectory();
      const told: string[] = [];
      const log = await openEmbeddedLog({
        directory,
        failAtSync: 3,
        onFatal: (message) => told.push(message),
      });
      await log.append(0, [{ key: 'k', bytes: Buffer.from('1') }]);
      const failing = log.append(0, [{ key: 'k', bytes: Buffer.from('2') }]);
      await expect(failing).rejects.toMatchObject({ code: 'E_IO' });
      expect(told).toEqual([expect.stringContaining('EIO')]);
      await expect(log.append(0, [{ key: 'k', bytes: Buffer.from('3') }])).rejects.toMatchObject({
        code: 'E_IO',
      });
      await log.close();
    },
  );

  it(
    'to sync makes the process exit with 74 unless the caller sets another handler',
    { tags: ['record§6:failed-sync'] },
    async () => {
      const child = runChild('failing.ts', [makeDirectory()]);
      expect(await child.ended).toBe(74);
      expect(child.errors()).toMatch(/EIO/);
    },
  );

  it(
    'more bytes is reported with a code, and acknowledged records stay',
    { tags: ['record§6'] },
    async () => {
      const directory = makeDirectory();
      // No file above 200 KiB.
      const child = runChild('notes.ts', [directory, 'full'], 'ulimit -f 200');
      expect(await child.ended).toBe(1);
      expect(child.errors()).toMatch(/E_|cannot be written|does not tell/);
      expect(child.lines().length).toBeGreaterThan(0);
      await expectAcknowledged(directory, child.lines());
    },
  );
});
