import { expect, it } from 'vitest';
import { noteIntent, openNoteRows } from '../src/contract/note-domain.ts';
import { openMemoryLog, type EventLog } from '../src/index.ts';
import { openRecentRecords } from '../src/writer/recent-records.ts';
import { noteWriter } from './note-writer.ts';

const record = (offset: number, history: string | null) => ({
  record: {
    offset,
    next: offset + 1,
    key: history,
    bytes: Uint8Array.of(1),
    keyVouched: true,
    damaged: true,
  },
  open: undefined,
});

it('knows the offsets of each history from an offset on, and forgets those before it', () => {
  const recent = openRecentRecords(10);
  recent.add([record(10, 'a'), record(11, 'b'), record(12, null), record(13, 'a')], 14);
  expect(recent.of('a', 9)).toBeUndefined();
  expect(recent.of('a', 10)).toEqual([10, 13]);
  expect(recent.of('c', 10)).toEqual([]);
  expect(recent.of('b', 12)).toEqual([]);
  // What is before 12 is forgotten now.
  expect(recent.of('a', 11)).toBeUndefined();
  expect(recent.of('a', 12)).toEqual([13]);
  recent.add([record(14, 'b')], 15);
  expect(recent.of('b', 14)).toEqual([14]);
  // Rows that are ahead of the reader have everything.
  expect(recent.of('b', 99)).toEqual([]);
  recent.add([record(15, 'b')], 16);
  expect(recent.of('b', 15)).toEqual([15]);
});

it('leaves out records behind the one at which the check stopped', () => {
  const recent = openRecentRecords(0);
  recent.add([record(0, 'a'), record(1, 'a')], 1);
  expect(recent.of('a', 0)).toEqual([0]);
});

it('remembers the newest, and says so where there were others', () => {
  const recent = openRecentRecords(0, 3);
  for (let offset = 0; offset < 100; offset++)
    recent.add([record(offset, offset % 2 ? 'a' : 'b')], offset + 1);
  expect(recent.of('a', 96)).toBeUndefined();
  expect(recent.of('a', 97)).toEqual([97, 99]);
  expect(recent.of('b', 97)).toEqual([98]);
});

it(
  'a history that was evicted is loaded without reading what others wrote meanwhile',
  { tags: ['record§5:heads'] },
  async () => {
    const log = await openMemoryLog();
    const seen: number[] = [];
    const watched: EventLog = {
      ...log,
      read: async (partition, from, options) => {
        const batch = await log.read(partition, from, options);
        seen.push(...batch.records.map(({ offset }) => offset));
        return batch;
      },
    };
    // Each session is evicted by the next one, and rows have nothing.
    const writer = await noteWriter(watched, { sessionBytes: 1 });
    await writer.write(noteIntent('h', 'first', 'one'));
    for (let i = 0; i < 50; i++) await writer.write(noteIntent(`other-${i}`, 'a', 'x'));
    seen.length = 0;
    expect(await writer.write(noteIntent('h', 'second', 'two'))).toMatchObject({ seq: 1 });
    expect(new Set(seen)).toEqual(new Set([1]));
    const rows = openNoteRows(log);
    await rows.catchUp();
    expect(rows.notes('h')).toEqual(['one', 'two']);
  },
);
