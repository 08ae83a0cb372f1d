import { expect, it } from 'vitest';
import { NO_CONTENTS, noteIntent, openNoteRows } from '../src/contract/note-domain.ts';
import {
  acknowledgeDamage,
  closedBy,
  openMemoryLog,
  verifyLog,
  type EventLog,
  type HeadState,
  type LogRecord,
  type MemoryLog,
  type RecordRange,
} from '../src/index.ts';
import { noteWriter } from './note-writer.ts';

/** Bytes that are no record, under no key: what somebody else's producer writes. */
const addGarbage = (log: MemoryLog, count: number): void => {
  const records = log.records(0);
  for (let i = 0; i < count; i++) {
    const offset = records.length;
    const bytes = Buffer.from(`garbage ${i}`);
    records.push({ offset, next: offset + 1, key: null, bytes, keyVouched: false, damaged: false });
  }
};

/** Acknowledges as an operator does, whose rows go as far as everybody's. */
const acknowledge = async (log: EventLog, range: RecordRange): Promise<unknown> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  const checkpoint = rows.checkpoint(0);
  if (checkpoint === undefined) throw new Error('nothing was read');
  const heads = new Map([['log:0', rows.head('log:0') as HeadState]]);
  const author = { at: 1n, actor: 'operator', command: 'ack' };
  return acknowledgeDamage(log, checkpoint, { load: () => heads }, range, author);
};

it(
  'a range of damaged records is acknowledged in one append, and again without another',
  { tags: ['record§2:acknowledged-damage'] },
  async () => {
    const log = await openMemoryLog();
    const writer = await noteWriter(log);
    await writer.write(noteIntent('h', 'a', 'before'));
    addGarbage(log, 30);
    expect(log.records(0)).toHaveLength(32);
    const appends: number[] = [];
    const counting: EventLog = {
      ...log,
      append: (partition, entries) => {
        appends.push(entries.length);
        return log.append(partition, entries);
      },
    };
    expect(await acknowledge(counting, { from: 2, to: 11 })).toEqual({ acknowledged: 10, before: 0 });
    expect(await acknowledge(counting, { from: 5, to: 99 })).toEqual({ acknowledged: 20, before: 7 });
    expect(await acknowledge(counting, { from: 2, to: 99 })).toEqual({ acknowledged: 0, before: 30 });
    expect(appends).toEqual([1, 1]);
    await (await noteWriter(log)).write(noteIntent('h', 'b', 'behind'));
    const rows = openNoteRows(log);
    await rows.catchUp({ maxRecords: 7 });
    expect(rows.notes('h')).toEqual(['before', 'behind']);
    expect(rows.checkpoint(0)?.state.acknowledged).toHaveLength(30);
  },
);

it('a frame in the range is never acknowledged, nor is damage that closes one history only', async () => {
  const log = await openMemoryLog();
  const writer = await noteWriter(log);
  await writer.write(noteIntent('h', 'a', 'before'));
  const frame = log.records(0)[1] as LogRecord;
  addGarbage(log, 2);
  log.records(0).push({ ...frame, offset: 4, next: 5 });
  addGarbage(log, 1);
  log.records(0).push({ ...frame, offset: 6, next: 7, bytes: Buffer.from('what was h') });
  addGarbage(log, 1);
  const before = log.records(0).length;
  for (const range of [
    { from: 0, to: 3 },
    { from: 2, to: 7 },
  ])
    await expect(acknowledge(log, range)).rejects.toMatchObject({ code: 'E_RECORD_INTACT' });
  for (const range of [
    { from: 6, to: 6 },
    { from: 8, to: 20 },
  ])
    await expect(acknowledge(log, range)).rejects.toMatchObject({ code: 'E_NOTHING_TO_ACK' });
  expect(log.records(0)).toHaveLength(before);
  expect(await acknowledge(log, { from: 5, to: 7 })).toEqual({ acknowledged: 2, before: 0 });
  const rows = openNoteRows(log);
  await rows.catchUp();
  expect(closedBy(rows.checkpoint(0)?.state as never)?.offset).toBe(2);
  expect(await acknowledge(log, { from: 2, to: 3 })).toEqual({ acknowledged: 2, before: 0 });
  await rows.catchUp();
  expect(rows.head('h')).toMatchObject({ state: 'damaged', stopped: 1 });
});

it(
  'readers of thousands of acknowledged records read the log once, and not once for each',
  { tags: ['record§2:acknowledged-damage'] },
  async () => {
    const log = await openMemoryLog();
    await (await noteWriter(log)).write(noteIntent('h', 'a', 'before'));
    addGarbage(log, 12_000);
    const { problems } = await verifyLog(log, { contents: NO_CONTENTS });
    expect(problems).toHaveLength(12_000);
    expect(await acknowledge(log, { from: 2, to: 12_001 })).toEqual({ acknowledged: 12_000, before: 0 });
    // One frame would be larger than every broker takes.
    expect(log.records(0)).toHaveLength(12_004);
    let read = 0;
    const counting: EventLog = {
      ...log,
      read: async (...given) => {
        const batch = await log.read(...given);
        read += batch.records.length;
        return batch;
      },
    };
    const rows = openNoteRows(counting);
    await rows.catchUp();
    expect(rows.checkpoint(0)?.state.acknowledged).toHaveLength(12_000);
    expect(read).toBeLessThan(4 * 12_004);
  },
);
