import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventLog } from '@stemma/log';
import { afterEach, expect, it } from 'vitest';
import { openLogOn, thisMachine, type LogMachine } from '../src/index.ts';
import { beganAt } from '@stemma/machine';
import { keysOf, makeDirectory, removeDirectories } from './kit.ts';

afterEach(removeDirectories);

/** This machine with a clock that moves only while data is synced, so that a disk is as fast as a test says. */
const machineWith = (): {
  machine: LogMachine;
  disk: { sync: number; handing: number; fails: boolean };
  asked: () => number;
} => {
  const disk = { sync: 0.1, handing: 0, fails: false };
  let [now, asked] = [0, 0];
  const machine: LogMachine = {
    ...thisMachine,
    now: () => now,
    disk: {
      ...thisMachine.disk,
      syncData: (file) => {
        if (disk.fails) throw new Error('EIO');
        thisMachine.disk.syncData(file);
        now += disk.sync;
      },
    },
    startThread: (options, onFatal) => {
      const thread = thisMachine.startThread(options, onFatal);
      return {
        ...thread,
        ask: async (job) => {
          if (job.kind === 'append') asked++;
          const answer = await thread.ask(job);
          if (answer.kind !== 'appended') return answer;
          now += disk.sync + disk.handing;
          return { ...answer, took: disk.sync };
        },
      };
    },
  };
  return { machine, disk, asked: () => asked };
};

/** Appends notes one after the other; returns their keys. */
const appendAlone = async (log: EventLog, prefix: string, count: number): Promise<string[]> => {
  const keys = Array.from({ length: count }, (_, i) => `${prefix}${i}`);
  for (const key of keys) await log.append(0, [{ key, bytes: Buffer.from(`record of ${key}`) }]);
  return keys;
};

/** More than a disk is watched before it counts as fast. */
const MANY = 40;

it(
  'a record that is alone is appended without the thread once the disk was fast for a while, in one order with groups, and another process reads it',
  { tags: ['record§6:group-commit'] },
  async () => {
    const { machine, asked } = machineWith();
    const directory = makeDirectory();
    const log = await openLogOn(machine, { directory, segmentBytes: 4_000 });
    const before = await appendAlone(log, 'a', MANY);
    const handedOver = asked();
    const alone = await appendAlone(log, 'b', MANY);
    expect(asked()).toBe(handedOver);
    const group = ['c', 'd', 'e'];
    await log.append(
      0,
      group.map((key) => ({ key, bytes: Buffer.from(key) })),
    );
    expect(asked()).toBe(handedOver + 1);
    const after = await appendAlone(log, 'f', MANY);
    expect(asked()).toBe(handedOver + 1);
    const other = await openLogOn(thisMachine, { directory });
    expect(await keysOf(other)).toEqual([...before, ...alone, ...group, ...after]);
    await other.close();
    await log.close();
  },
);

it(
  'a record goes through the thread while somebody else has the log open, and what they write is in one order',
  { tags: ['record§6:group-commit'] },
  async () => {
    const { machine, asked } = machineWith();
    const directory = makeDirectory();
    const log = await openLogOn(machine, { directory });
    const first = await appendAlone(log, 'a', MANY);
    const other = await openLogOn(machineWith().machine, { directory });
    const handedOver = asked();
    const both: string[] = [];
    for (let i = 0; i < 10; i++)
      both.push(...(await appendAlone(log, `b${i}.`, 1)), ...(await appendAlone(other, `c${i}.`, 1)));
    expect(asked()).toBe(handedOver + 10);
    await other.close();
    const last = await appendAlone(log, 'd', 5);
    expect(asked()).toBe(handedOver + 10);
    expect(await keysOf(log)).toEqual([...first, ...both, ...last]);
    await log.close();
  },
);

it(
  'a process that is stopped while it holds the lock makes the append wait, and the process that appends goes on meanwhile',
  { tags: ['record§6:busy'] },
  async () => {
    const { machine } = machineWith();
    const directory = makeDirectory();
    const log = await openLogOn(machine, { directory, busyAfter: 100 });
    await appendAlone(log, 'a', MANY);
    writeFileSync(
      join(directory, 'holder'),
      `${process.ppid} ${beganAt(process.ppid) ?? '-'}`.padEnd(48),
      'latin1',
    );
    let turns = 0;
    const counting = setInterval(() => turns++, 5);
    await expect(appendAlone(log, 'b', 1)).rejects.toMatchObject({ code: 'E_LOG_BUSY' });
    clearInterval(counting);
    expect(turns).toBeGreaterThan(3);
    await log.close();
  },
);

it(
  'a disk that becomes slow is left to the thread until it was fast again for a while',
  { tags: ['record§6:group-commit'] },
  async () => {
    const { machine, disk, asked } = machineWith();
    const log = await openLogOn(machine, { directory: makeDirectory() });
    await appendAlone(log, 'a', MANY);
    const handedOver = asked();
    disk.sync = 20;
    await appendAlone(log, 'b', 10);
    expect(asked()).toBe(handedOver + 9);
    disk.sync = 0.1;
    await appendAlone(log, 'c', MANY);
    const again = asked();
    expect(again).toBeLessThan(handedOver + 9 + MANY);
    await appendAlone(log, 'd', 5);
    expect(asked()).toBe(again);
    await log.close();
  },
);

it('on busy processors, where handing over takes as long as a disk that looks slow, a record that is alone is appended without the thread', async () => {
  const { machine, disk, asked } = machineWith();
  const log = await openLogOn(machine, { directory: makeDirectory() });
  // Two threads that wake each other wait for a processor each.
  Object.assign(disk, { sync: 3, handing: 4 });
  await appendAlone(log, 'a', MANY);
  const handedOver = asked();
  await appendAlone(log, 'b', MANY);
  // Now and then it is measured again.
  expect(asked() - handedOver).toBeLessThan(MANY / 4);
  disk.handing = 0.1;
  await appendAlone(log, 'c', MANY);
  const calm = asked();
  await appendAlone(log, 'd', MANY);
  expect(asked() - calm).toBe(MANY);
  await log.close();
});

it('a disk that takes longer than others can wait is left to the thread, however long handing over takes', async () => {
  const { machine, disk, asked } = machineWith();
  const log = await openLogOn(machine, { directory: makeDirectory() });
  Object.assign(disk, { sync: 8, handing: 20 });
  const opened = asked();
  await appendAlone(log, 'a', MANY);
  expect(asked() - opened).toBe(MANY);
  await log.close();
});

it('a command of 1,000 messages is one record, and is appended without the thread; one that is larger goes to it', async () => {
  const { machine, asked } = machineWith();
  const log = await openLogOn(machine, { directory: makeDirectory() });
  await appendAlone(log, 'a', MANY);
  const handedOver = asked();
  const bytes = new Uint8Array(500_000).fill(7);
  for (const key of ['b', 'c']) await log.append(0, [{ key, bytes }]);
  expect(asked()).toBe(handedOver);
  expect(bytes.length).toBe(500_000);
  await log.append(0, [{ key: 'd', bytes: new Uint8Array(1_100_000) }]);
  expect(asked()).toBe(handedOver + 1);
  const read = await log.read(0, 0, { maxBytes: 10_000_000 });
  expect(read.records.slice(-3).map((record) => [record.key, record.bytes.length])).toEqual([
    ['b', 500_000],
    ['c', 500_000],
    ['d', 1_100_000],
  ]);
  await log.close();
});

it('whoever appends one record after the other lets timers run', async () => {
  const { machine, asked } = machineWith();
  const log = await openLogOn(machine, { directory: makeDirectory() });
  await appendAlone(log, 'a', MANY);
  const handedOver = asked();
  const timer = new AbortController();
  setTimeout(() => timer.abort(), 1);
  for (let i = 0; !timer.signal.aborted && i < 100_000; i++) await appendAlone(log, `b${i}.`, 1);
  expect(timer.signal.aborted).toBe(true);
  expect(asked()).toBe(handedOver);
  await log.close();
});

it(
  'a sync that fails ends the process wherever it was made, and nothing is appended after it',
  { tags: ['record§6:failed-sync'] },
  async () => {
    const { machine, disk } = machineWith();
    const fatal: string[] = [];
    const log = await openLogOn(machine, {
      directory: makeDirectory(),
      onFatal: (message) => fatal.push(message),
    });
    await appendAlone(log, 'a', MANY);
    disk.fails = true;
    await expect(appendAlone(log, 'b', 1)).rejects.toMatchObject({ code: 'E_IO' });
    expect(fatal).toHaveLength(1);
    disk.fails = false;
    await expect(appendAlone(log, 'c', 1)).rejects.toMatchObject({ code: 'E_IO' });
    expect(fatal).toHaveLength(1);
    await log.close();
  },
);
