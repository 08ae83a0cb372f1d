import { isStemmaError } from '@stemma/errors';
import { checkpointAtStart, openMemoryLog, type Checkpoint } from '@stemma/log';
import { expect, it } from 'vitest';
import { decodeCheckpoint, encodeCheckpoint, isClosed } from '../src/checkpoint.ts';
import { moreRecords } from '../src/more-records.ts';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : error),
  );

const opened = async () => {
  const log = await openMemoryLog();
  await log.append(0, [{ key: 'h', bytes: Uint8Array.of(1) }]);
  const start = await checkpointAtStart(log, 0);
  const at = (offset: number): Checkpoint => ({ ...start, cursor: { ...start.cursor, offset } });
  const closed = (offset: number): Checkpoint => ({
    cursor: at(offset).cursor,
    state: {
      ...start.state,
      damage: [{ offset, history: 'h', seq: 0, affectsWholePartition: true }],
    },
  });
  return { log, at, closed };
};

it('a checkpoint is read as it was written, and is closed only by damage that closes its whole partition', async () => {
  const { at, closed } = await opened();
  expect(decodeCheckpoint(encodeCheckpoint(closed(3)))).toEqual(closed(3));
  expect([isClosed(undefined), isClosed(at(1)), isClosed(closed(1))]).toEqual([false, false, true]);
});

it('a reader waits for records behind its rows; behind damage, for those that came since it last looked', async () => {
  const { log, at, closed } = await opened();
  const waits: number[] = [];
  const spied = {
    ...log,
    wait: (_partition: number, from: number) => Promise.resolve(void waits.push(from)),
  };
  const never = new AbortController().signal;
  const end = await log.end(0);
  await moreRecords(spied, 0, () => Promise.resolve(undefined))(never);
  await moreRecords(spied, 0, () => Promise.resolve(at(1)))(never);
  const wait = moreRecords(spied, 0, async () => {
    // A record that opens the partition again may come between the look at the rows and the wait.
    await log.append(0, [{ key: 'h', bytes: Uint8Array.of(1) }]);
    return closed(1);
  });
  await wait(never);
  await wait(never);
  expect(waits).toEqual([0, 1, 0, end + 1]);
});

it('records that exist but never reach the rows end the wait with a code', async () => {
  const { log, at } = await opened();
  const wait = moreRecords(log, 0, () => Promise.resolve(at(1)));
  const never = new AbortController().signal;
  const rounds: unknown[] = [];
  while (rounds.at(-1) !== 'E_BUSY' && rounds.length < 50) rounds.push(await codeOf(wait(never)));
  // The first round tells where the rows are, the second that they are there still.
  expect(rounds).toEqual([...Array.from({ length: 21 }, () => 'no error'), 'E_BUSY']);
});

it('rows that make progress, and waits that end early, do not end it', async () => {
  const { log, at } = await opened();
  const end = await log.end(0);
  const idle = moreRecords({ ...log, wait: () => Promise.resolve() }, 0, () => Promise.resolve(at(end)));
  const never = new AbortController().signal;
  for (let i = 0; i < 50; i++) await idle(never);
  let offset = 0;
  const moving = moreRecords(log, 0, () => Promise.resolve(at(offset++ % 2)));
  for (let i = 0; i < 50; i++) await moving(never);
  expect(offset).toBe(50);
});

it('a wait ends when the log has a new record, or with the signal', async () => {
  const { log, at } = await opened();
  const waits: number[] = [];
  const spied = {
    ...log,
    wait: (partition: number, from: number, signal: AbortSignal) => {
      waits.push(from);
      return log.wait(partition, from, signal);
    },
  };
  const end = await log.end(0);
  const ending = new AbortController();
  const wait = moreRecords(spied, 0, () => Promise.resolve(at(end)))(ending.signal);
  ending.abort();
  await wait;
  expect(waits).toEqual([end]);
});
