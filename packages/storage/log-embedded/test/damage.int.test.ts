import { checkCursor, openRecord, sealRecord, type LogRecord } from '@stemma/log';
import { noteIntent, openNoteRows } from '@stemma/log/contract';
import { sized } from '@stemma/test-kit';
import { open } from 'lmdb';
import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { thisDisk } from '../src/disk.ts';
import { entryBytes, writeEntry } from '../src/entry.ts';
import { openEmbeddedLog } from '../src/index.ts';
import { segmentBases, segmentPath } from '../src/segments.ts';
import { makeDirectory, notesOf, noteWriter, removeDirectories, report } from './kit.ts';

afterEach(removeDirectories);

const allRecords = async (log: Awaited<ReturnType<typeof openEmbeddedLog>>): Promise<LogRecord[]> => {
  const records: LogRecord[] = [];
  for (let at = 0; ;) {
    const batch = await log.read(0, at);
    if (batch.records.length === 0) return records;
    records.push(...batch.records);
    at = batch.next;
  }
};

/** A small log: three histories, a few notes each. */
const smallLog = async (
  directory: string,
  notes = 9,
): Promise<Awaited<ReturnType<typeof openEmbeddedLog>>> => {
  const log = await openEmbeddedLog({ directory, stepBytes: 4096 });
  const writer = await noteWriter(log);
  for (let i = 0; i < notes; i++) await writer.write(noteIntent(`h${i % 3}`, `c${i}`, `note ${i}`));
  await writer.close();
  return log;
};

const segment = (directory: string, base = 0): string => segmentPath(join(directory, '0'), base);

describe('damage in the embedded log', () => {
  it(
    'is found and reported with history and seq, whichever byte of a record is flipped, and closes only that history',
    { tags: ['record§2:damaged', 'record§2:verify'] },
    async () => {
      const directory = makeDirectory();
      const log = await smallLog(directory);
      const records = await allRecords(log);
      const file = openSync(segment(directory), 'r+');
      const one = Buffer.alloc(1);
      const wrong: unknown[] = [];
      for (const record of records) {
        const { history, seq } = openRecord(record.bytes)?.envelope ?? { history: '', seq: -1 };
        for (let at = record.offset; at < record.next; at++) {
          readSync(file, one, 0, 1, at);
          const flipped = Buffer.from([(one[0] as number) ^ (1 << (at % 8))]);
          writeSync(file, flipped, 0, 1, at);
          const { problems, accepted } = await report(log);
          writeSync(file, one, 0, 1, at);
          const [problem] = problems;
          const named =
            problems.length === 1 &&
            problem?.kind === 'damaged' &&
            problem.history === history &&
            problem.seq === seq;
          // What stands behind it in other histories is found again.
          const lost = records.filter(
            (other) => other.offset >= record.offset && other.key === history,
          ).length;
          if (!named || problems[0]?.offset !== record.offset || accepted !== records.length - lost)
            wrong.push({ at: at - record.offset, history, seq, problems, accepted });
        }
      }
      closeSync(file);
      expect(wrong.slice(0, 3)).toEqual([]);
      expect((await report(log)).problems).toEqual([]);
      await log.close();
    },
  );

  it(
    'is found when several records are overwritten at once, and the records after them are read',
    { tags: ['record§2:verify'] },
    async () => {
      const directory = makeDirectory();
      const log = await smallLog(directory, 12);
      const records = await allRecords(log);
      const [from, to] = [records[3]?.offset ?? 0, records[6]?.offset ?? 0];
      const file = openSync(segment(directory), 'r+');
      writeSync(file, Buffer.alloc(to - from, 0xc1), 0, to - from, from);
      closeSync(file);
      const after = await allRecords(log);
      expect(after[3]).toMatchObject({ offset: from, next: to, key: null, damaged: true });
      expect(after.slice(4)).toEqual(records.slice(6));
      const { problems } = await report(log);
      expect(problems[0]).toMatchObject({ offset: from, history: null, seq: null, kind: 'unknown' });
      // The histories whose frames after it follow nothing.
      for (const { kind, offset, message } of problems.slice(1))
        expect([kind, offset, /has no frame \d+, which may be/.test(message)]).toEqual([
          'damaged',
          from,
          true,
        ]);
      await log.close();
    },
  );

  it(
    'does not make the reader take an entry quoted inside another for an entry of the log',
    { tags: ['record§6'] },
    async () => {
      const directory = makeDirectory();
      const log = await smallLog(directory);
      const [, second] = await allRecords(log);
      const entry = readFileSync(segment(directory)).subarray(second?.offset, second?.next);
      const [placed] = await log.append(0, [{ key: 'hquoting', bytes: sealRecord(entry) }]);
      const file = openSync(segment(directory), 'r+');
      writeSync(file, Buffer.from([0]), 0, 1, placed?.offset ?? 0);
      closeSync(file);
      expect((await allRecords(log)).at(-1)).toMatchObject({
        offset: placed?.offset,
        next: placed?.next,
        damaged: true,
      });
      await log.close();
    },
  );

  it(
    'is reported for a truncated or missing segment: no record is skipped without a report',
    { tags: ['record§6'] },
    async () => {
      const directory = makeDirectory();
      const log = await openEmbeddedLog({ directory, segmentBytes: 2000, stepBytes: 512 });
      const writer = await noteWriter(log);
      for (let i = 0; i < 40; i++) await writer.write(noteIntent(`h${i % 3}`, `c${i}`, `note ${i}`));
      const bases = segmentBases(thisDisk, join(directory, '0'));
      expect(bases.length).toBeGreaterThan(4);
      const records = await allRecords(log);
      await log.close();
      truncateSync(segment(directory, bases[1]), 700);
      rmSync(segment(directory, bases[3]));
      const again = await openEmbeddedLog({ directory });
      const after = await allRecords(again);
      expect(after.at(-1)).toEqual(records.at(-1));
      const cut = records.findLast(({ offset }) => offset < (bases[1] ?? 0) + 700);
      expect(
        after.filter(({ damaged }) => damaged).map(({ next, key, keyVouched }) => [next, key, keyVouched]),
      ).toEqual([
        [cut?.next, cut?.key, true],
        [bases[2], null, false],
        [bases[4], null, false],
      ]);
      for (const [i, record] of after.slice(1).entries()) expect(record.offset).toBe(after[i]?.next);
      await again.close();
    },
  );

  it(
    'of a file that ends anywhere closes the partition, wherever more than one record was lost',
    { tags: ['record§2:unknown-key'] },
    async () => {
      const directory = makeDirectory();
      const log = await smallLog(directory);
      const records = await allRecords(log);
      await log.close();
      const end = records.at(-1)?.next ?? 0;
      const wrong: unknown[] = [];
      for (let at = 1; at < end; at += sized(151, 7)) {
        const copy = makeDirectory();
        cpSync(directory, copy, { recursive: true });
        truncateSync(segment(copy), at);
        const again = await openEmbeddedLog({ directory: copy });
        const { problems } = await report(again);
        await again.close();
        // One that lost only a part of itself is named, if its header is there.
        const cut = records.find(({ next }) => next > at);
        const isAlone = cut?.next === end;
        const closes = problems.some(({ kind, history }) => kind === 'unknown' && history === null);
        if (problems.length === 0 || (!isAlone && !closes)) wrong.push({ at, problems });
      }
      expect(wrong.slice(0, 3)).toEqual([]);
    },
  );

  it(
    'of the first record does not change the id of the log',
    { tags: ['record§2:control-successor', 'record§5:log-id'] },
    async () => {
      const directory = makeDirectory();
      const log = await smallLog(directory);
      await log.close();
      const bytes = readFileSync(segment(directory));
      bytes[60] = (bytes[60] as number) ^ 1;
      writeFileSync(segment(directory), bytes);
      const again = await openEmbeddedLog({ directory });
      expect(again.id).toBe(log.id);
      expect((await allRecords(again)).at(-1)?.key).toBe('log:0/1');
      expect((await notesOf(again, ['h1']))['h1']).toEqual(['note 1', 'note 4', 'note 7']);
      await again.close();
    },
  );

  it(
    'is noticed by a cursor when the log lost its end and grew again',
    { tags: ['record§5:lost-end'] },
    async () => {
      const directory = makeDirectory();
      const kept = makeDirectory();
      const log = await smallLog(directory);
      await log.close();
      cpSync(directory, kept, { recursive: true });
      const later = await openEmbeddedLog({ directory });
      const writer = await noteWriter(later);
      for (let i = 0; i < 5; i++) await writer.write(noteIntent('h0', `later${i}`, `later ${i}`));
      const rows = openNoteRows(later);
      await rows.catchUp();
      const cursor = rows.checkpoint(0)?.cursor;
      if (!cursor) throw new Error('no cursor');
      await checkCursor(later, cursor);
      await later.close();
      rmSync(directory, { recursive: true });
      cpSync(kept, directory, { recursive: true });
      const short = await openEmbeddedLog({ directory });
      await expect(checkCursor(short, cursor)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
      const other = await noteWriter(short);
      for (let i = 0; i < 6; i++) await other.write(noteIntent('h0', `other${i}`, `other ${i}`));
      await expect(checkCursor(short, cursor)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
      await short.close();
    },
  );
});

describe('bytes that a killed process left after the end of the log', () => {
  /** The log as it is when a process was killed after it had written, but before the end was moved. */
  const killedIn = async (directory: string, behind: Buffer): Promise<number> => {
    const log = await smallLog(directory);
    const end = await log.end(0);
    await log.close();
    const file = openSync(segment(directory), 'r+');
    writeSync(file, behind, 0, behind.length, end);
    closeSync(file);
    writeFileSync(join(directory, 'holder'), '999999999 12345'.padEnd(48));
    return end;
  };
  const entryAt = (offset: number): Buffer => {
    const record = sealRecord(Buffer.from('any frame'));
    const entry = Buffer.alloc(entryBytes(1, record.length));
    writeEntry(entry, 0, offset, Buffer.from('k'), record);
    return entry;
  };
  const probe = makeDirectory;

  it('are cut off only if they are no complete record', { tags: ['record§6:torn-tail'] }, async () => {
    const first = await killedIn(probe(), Buffer.alloc(0));
    for (const [behind, kept] of [
      [entryAt(first).subarray(0, 5), 0],
      [entryAt(first).subarray(0, -1), 0],
      [Buffer.alloc(3000), 0],
      [entryAt(first), 1],
    ] as const) {
      const directory = makeDirectory();
      const end = await killedIn(directory, behind);
      expect(end).toBe(first);
      const log = await openEmbeddedLog({ directory });
      const [placed] = await log.append(0, [{ key: 'next', bytes: Buffer.from('next') }]);
      expect(placed?.offset).toBe(end + (kept ? behind.length : 0));
      expect((await allRecords(log)).at(-1)).toMatchObject({ key: 'next', damaged: false });
      await log.close();
    }
  });

  it.each(['missing', 'of another boot', 'unreadable'])(
    'are found by reading the segments when the LMDB environment is %s',
    { tags: ['record§6:boot'] },
    async (how) => {
      const directory = makeDirectory();
      const log = await smallLog(directory);
      const records = await allRecords(log);
      await log.close();
      const lock = join(directory, 'lock');
      if (how === 'missing') rmSync(lock, { recursive: true });
      else if (how === 'unreadable') writeFileSync(join(lock, '1', 'ends.mdb'), Buffer.alloc(8192, 0x5a));
      else {
        const database = open<Buffer, string>({ path: join(lock, '1', 'ends.mdb'), encoding: 'binary' });
        await database.put('boot', Buffer.from('another'));
        await database.close();
      }
      const file = openSync(segment(directory), 'a');
      writeSync(file, 'torn');
      closeSync(file);
      const again = await openEmbeddedLog({ directory });
      expect(await allRecords(again)).toEqual(records);
      expect(statSync(segment(directory)).size).toBe(records.at(-1)?.next);
      const writer = await noteWriter(again);
      await writer.write(noteIntent('h0', 'after', 'after'));
      expect((await report(again)).problems).toEqual([]);
      await again.close();
    },
  );

  it(
    'are absent after a process ended cleanly: the file is as long as its records',
    { tags: ['record§6'] },
    async () => {
      const directory = makeDirectory();
      const log = await smallLog(directory);
      const end = await log.end(0);
      expect(statSync(segment(directory)).size).toBeGreaterThan(end);
      await log.close();
      expect(statSync(segment(directory)).size).toBe(end);
    },
  );
});

describe('a log with missing files', () => {
  const gone = { code: 'E_LOG_GONE' };
  const segmentsOf = (directory: string): readonly string[] =>
    readdirSync(directory, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.seg'));

  it.each<[string, (directory: string) => void]>([
    ['its only segment, and the lock', (at) => [segment(at), join(at, 'lock')].forEach(remove)],
    ['its only segment, and the id', (at) => [segment(at), join(at, 'id')].forEach(remove)],
    ['the folder of the partition', (at) => remove(join(at, '0'))],
  ])(
    '%s, is not treated as a new log: opening is refused, and no file is made',
    { tags: ['record§6'] },
    async (_what, cut) => {
      const directory = makeDirectory();
      await (await smallLog(directory)).close();
      cut(directory);
      const before = segmentsOf(directory);
      await expect(openEmbeddedLog({ directory })).rejects.toMatchObject(gone);
      await expect(openEmbeddedLog({ directory })).rejects.toMatchObject(gone);
      expect(segmentsOf(directory)).toEqual(before);
    },
  );

  it.each(['missing', 'cut in the middle of a record', 'cut between two records'])(
    'with its last segment %s keeps its length and reports damage; new records follow behind it',
    { tags: ['record§6'] },
    async (how) => {
      const directory = makeDirectory();
      const log = await openEmbeddedLog({ directory, segmentBytes: 2000, stepBytes: 512 });
      const writer = await noteWriter(log);
      for (let i = 0; i < 24; i++) await writer.write(noteIntent(`h${i % 3}`, `c${i}`, `note ${i}`));
      const records = await allRecords(log);
      const end = await log.end(0);
      await log.close();
      const base = segmentBases(thisDisk, join(directory, '0')).at(-1) ?? 0;
      const lost = records.filter(({ offset }) => offset > base)[0] as LogRecord;
      if (how === 'missing') rmSync(segment(directory, base));
      else truncateSync(segment(directory, base), lost.offset - base + (how.includes('middle') ? 40 : 0));
      const kept = statSync(segment(directory, base), { throwIfNoEntry: false })?.size;

      const again = await openEmbeddedLog({ directory });
      expect(await again.end(0)).toBe(end);
      const cut = (await allRecords(again)).at(-1);
      expect(cut).toMatchObject({ next: end, damaged: true, keyVouched: how.includes('middle') });
      const [placed] = await again.append(0, [{ key: 'next', bytes: Buffer.from('next') }]);
      expect(placed?.offset).toBe(end);
      // What is put back counts again: nothing was written in its place.
      expect(statSync(segment(directory, base), { throwIfNoEntry: false })?.size).toBe(kept);
      expect((await allRecords(again)).slice(-2)).toMatchObject([{ damaged: true }, { key: 'next' }]);
      await again.close();
    },
  );

  it.each(['removed', 'replaced'])(
    'refuses to append while the file that it writes to is %s',
    { tags: ['record§6'] },
    async (how) => {
      const directory = makeDirectory();
      const log = await smallLog(directory);
      const end = await log.end(0);
      const copy = join(directory, 'copy');
      cpSync(segment(directory), copy);
      rmSync(segment(directory));
      if (how === 'replaced') cpSync(copy, segment(directory));
      const entry = { key: 'next', bytes: Buffer.from('next') };
      for (let i = 0; i < 2; i++)
        await expect(log.append(0, [entry])).rejects.toMatchObject({ code: 'E_LOG_CLOSED' });
      expect(await log.end(0)).toBe(end);
      await log.close();
      cpSync(copy, segment(directory));
      const again = await openEmbeddedLog({ directory });
      expect(await again.append(0, [entry])).toMatchObject([{ offset: end }]);
      expect((await report(again)).problems).toMatchObject([{ offset: end, history: 'next' }]);
      await again.close();
    },
  );
});

const remove = (path: string): void => rmSync(path, { recursive: true });
