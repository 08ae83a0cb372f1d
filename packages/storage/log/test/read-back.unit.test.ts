import { sha256 } from '@stemma/canonical';
import { expect, test } from 'vitest';
import { bytesOf } from '../src/contract/kit.ts';
import { noteIntent, openNoteRows } from '../src/contract/note-domain.ts';
import { openMemoryLog, ZERO_HASH, type EventLog, type LogRecord, type MemoryLog } from '../src/index.ts';
import { refuseUnreadable, type KnownFrames } from '../src/read-back.ts';
import { openRecord } from '../src/record.ts';
import { noteWriter } from './note-writer.ts';

/** Three frames of `h`, at 1, 3 and 5, others between them and behind, and what the rows know of them. */
const threeFrames = async (): Promise<{ log: MemoryLog; known: KnownFrames }> => {
  const log = await openMemoryLog();
  const writer = await noteWriter(log);
  for (const id of ['a', 'b', 'c'])
    for (const history of ['h', 'other']) await writer.write(noteIntent(history, id, id));
  const rows = openNoteRows(log);
  await rows.catchUp();
  return { log, known: { offsets: [1, 3, 5], prev: rows.head('h')?.prev ?? ZERO_HASH } };
};
const frameHash = (log: MemoryLog, offset: number): Uint8Array | undefined =>
  openRecord((log.records(0)[offset] as LogRecord).bytes)?.hash;
const change = (log: MemoryLog, offset: number, more: Partial<LogRecord>): void => {
  log.records(0)[offset] = { ...(log.records(0)[offset] as LogRecord), ...more };
};

test('a history whose frames lie in the log as they were read can be written to', async () => {
  const { log, known } = await threeFrames();
  await expect(refuseUnreadable(log, 0, 'h', known)).resolves.toBeUndefined();
  await expect(refuseUnreadable(log, 0, 'new', { offsets: [], prev: ZERO_HASH })).resolves.toBeUndefined();
});

test.each<[string, { seq: number; offset: number }, (log: MemoryLog) => void]>([
  [
    'the first frame of another one',
    { seq: 0, offset: 1 },
    (log) => change(log, 1, { key: 'h3', bytes: bytesOf(3) }),
  ],
  [
    'its own frame before once more',
    { seq: 1, offset: 3 },
    (log) => change(log, 3, { bytes: (log.records(0)[1] as LogRecord).bytes }),
  ],
  ['damaged bytes', { seq: 2, offset: 5 }, (log) => change(log, 5, { bytes: Uint8Array.of(1) })],
])(
  'a history is refused where %s lies in the place of a frame, and that place is named',
  async (_what, place, alter) => {
    const { log, known } = await threeFrames();
    alter(log);
    await expect(refuseUnreadable(log, 0, 'h', known)).rejects.toMatchObject({
      code: 'E_HISTORY_DAMAGED',
      detail: { history: 'h', partition: 0, ...place },
    });
  },
);

test('a history of which the rows have a hash but no frame is refused at its beginning', async () => {
  const { log } = await threeFrames();
  await expect(refuseUnreadable(log, 0, 'h', { offsets: [], prev: sha256('x') })).rejects.toMatchObject({
    code: 'E_HISTORY_DAMAGED',
    detail: { seq: 0, offset: 0 },
  });
});

test('a history that was read up to a frame is read from there on', async () => {
  const { log, known } = await threeFrames();
  const prev = new Uint8Array(frameHash(log, 1) ?? []);
  change(log, 1, { bytes: Uint8Array.of(1) });
  const later = { ...known, offsets: known.offsets.slice(1) };
  await expect(refuseUnreadable(log, 0, 'h', later, { since: { next: 1, prev } })).resolves.toBeUndefined();
  change(log, 5, { bytes: Uint8Array.of(1) });
  await expect(refuseUnreadable(log, 0, 'h', later, { since: { next: 1, prev } })).rejects.toMatchObject({
    detail: { seq: 2, offset: 5 },
  });
});

test('records that lie next to each other are read many at a time, also where offsets count bytes', async () => {
  const BYTES = 1_000;
  const log = await openMemoryLog();
  const writer = await noteWriter(log);
  for (let i = 0; i < 50; i++) await writer.write(noteIntent('h', `n${i}`, `n${i}`));
  const rows = openNoteRows(log);
  await rows.catchUp();
  let reads = 0;
  const inBytes: EventLog = {
    ...log,
    read: async (partition, offset, options) => {
      reads++;
      const { records, next } = await log.read(partition, offset / BYTES, options);
      return {
        records: records.map((each) => ({ ...each, offset: each.offset * BYTES, next: each.next * BYTES })),
        next: next * BYTES,
      };
    },
  };
  const offsets = Array.from({ length: 50 }, (_, i) => (i + 1) * BYTES);
  const known: KnownFrames = { offsets, prev: rows.head('h')?.prev ?? ZERO_HASH };
  await refuseUnreadable(inBytes, 0, 'h', known);
  expect(reads).toBeLessThan(3);
});

test('of brokers frames that lie apart are asked for before their turn, no more than 16 at a time, and what stands there now', async () => {
  const log = await openMemoryLog();
  const writer = await noteWriter(log);
  const offsets: number[] = [];
  for (let i = 0; i < 60; i++) {
    // Three near each other, then 40 of others.
    offsets.push((await writer.write(noteIntent('h', `n${i}`, `n${i}`))).offset as number);
    if (i % 3 === 2)
      for (let other = 0; other < 40; other++)
        await writer.write(noteIntent(`h${other}`, `n${i}-${other}`, 'of others'));
  }
  const rows = openNoteRows(log);
  await rows.catchUp();
  let [waiting, most] = [0, 0];
  const asked = new Map<number, number>();
  const remote: EventLog = {
    ...log,
    isRemote: true,
    read: async (partition, offset, options) => {
      expect(options?.fresh).toBe(true);
      asked.set(offset, (asked.get(offset) ?? 0) + 1);
      most = Math.max(most, ++waiting);
      await new Promise((resolve) => setImmediate(resolve));
      waiting--;
      return log.read(partition, offset, options);
    },
  };
  const known: KnownFrames = { offsets, prev: rows.head('h')?.prev ?? ZERO_HASH };
  await expect(refuseUnreadable(remote, 0, 'h', known)).resolves.toBeUndefined();
  expect(most).toBe(16);
  expect([...asked.values()].every((times) => times === 1)).toBe(true);
  change(log, offsets[41] as number, { bytes: Uint8Array.of(1) });
  await expect(refuseUnreadable(remote, 0, 'h', known)).rejects.toMatchObject({
    code: 'E_HISTORY_DAMAGED',
    detail: { seq: 41, offset: offsets[41] },
  });
});
