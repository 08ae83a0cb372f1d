import { fail } from '@stemma/errors';
import { beganAt } from '@stemma/machine';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startThread } from '../src/append-thread.ts';
import { openLogOn, thisMachine, type AppendThread, type LogMachine } from '../src/index.ts';
import { startLate } from '../src/late-thread.ts';
import { isLockInUse } from '../src/lock-environment.ts';
import { keysOf, makeDirectory, removeDirectories } from './kit.ts';

afterEach(removeDirectories);

const note = (key: string) => ({ key, bytes: Buffer.from(`record of ${key}`) });
/** Who has the lock of a log open, as others see it. */
const users = (directory: string): string[] => readdirSync(join(directory, 'lock/1/users'));

/** This machine, which counts the appending threads that begin. */
const machineWith = (
  begin: (start: () => AppendThread) => AppendThread = (start) => start(),
): { readonly machine: LogMachine; readonly begun: () => number } => {
  let begun = 0;
  const counting: LogMachine['startThread'] = (options, onFatal) => {
    begun++;
    return begin(() => startThread(options, onFatal));
  };
  const machine: LogMachine = {
    ...thisMachine,
    startThread: (options, onFatal) =>
      startLate({ machine: thisMachine, startThread: counting, isOpen: isLockInUse }, options, onFatal),
  };
  return { machine, begun: () => begun };
};

it('a log that is only read has no appending thread, and leaves nothing behind', async () => {
  const directory = makeDirectory();
  const first = await openLogOn(thisMachine, { directory });
  await first.append(0, [note('a')]);
  await first.close();
  const { machine, begun } = machineWith();
  const log = await openLogOn(machine, { directory });
  expect([await keysOf(log), users(directory).length]).toEqual([['a'], 1]);
  await log.close();
  expect([begun(), users(directory)]).toEqual([0, []]);
});

it('the first append begins the thread, which has the log alone from then on', async () => {
  const directory = makeDirectory();
  const { machine, begun } = machineWith();
  const log = await openLogOn(machine, { directory });
  await Promise.all(['a', 'b'].map((key) => log.append(0, [note(key)])));
  await log.append(0, [note('c')]);
  expect([begun(), users(directory).length, await keysOf(log)]).toEqual([1, 1, ['a', 'b', 'c']]);
  await log.close();
  expect(users(directory)).toEqual([]);
});

it('a log that others have open is opened by the thread', async () => {
  const directory = makeDirectory();
  const other = await openLogOn(thisMachine, { directory });
  const { machine, begun } = machineWith();
  const log = await openLogOn(machine, { directory });
  expect(begun()).toBe(1);
  await Promise.all([log.append(0, [note('a')]), other.append(0, [note('b')])]);
  expect(new Set(await keysOf(log))).toEqual(new Set(['a', 'b']));
  await log.close();
  await other.close();
});

it('a log whose lock somebody holds is opened by the thread, which waits as long as it is told', async () => {
  const directory = makeDirectory();
  await (await openLogOn(thisMachine, { directory })).close();
  const holder = `${process.ppid} ${beganAt(process.ppid) ?? '-'}`.padEnd(48);
  writeFileSync(join(directory, 'holder'), holder, 'latin1');
  const { machine, begun } = machineWith();
  await expect(openLogOn(machine, { directory, busyAfter: 50 })).rejects.toMatchObject({
    code: 'E_LOG_BUSY',
  });
  expect([begun(), users(directory)]).toEqual([1, []]);
});

it('a thread that cannot open the log fails the append, and the next one asks it again', async () => {
  const directory = makeDirectory();
  await (await openLogOn(thisMachine, { directory })).close();
  let fails = true;
  const { machine } = machineWith((start) => {
    const thread = start();
    return {
      ...thread,
      ask: (job) =>
        job.kind === 'open' && fails ? Promise.reject(fail('E_LOG_BUSY', 'held')) : thread.ask(job),
    };
  });
  const log = await openLogOn(machine, { directory });
  await expect(log.append(0, [note('a')])).rejects.toMatchObject({ code: 'E_LOG_BUSY' });
  fails = false;
  await log.append(0, [note('b')]);
  expect(await keysOf(log)).toEqual(['b']);
  await log.close();
});
