import { fail } from '@stemma/errors';
import { describe, expect, it } from 'vitest';
import { NO_CONTENTS, noteIntent, openNoteRows } from '../src/contract/note-domain.ts';
import {
  damagedRecords,
  openMemoryLog,
  progressGuard,
  readPartition,
  readStoredLog,
  verifyLog,
  type EventLog,
  type HeadState,
  type LogRecord,
  type MemoryLog,
} from '../src/index.ts';
import { openPartitionReader, scanHead } from '../src/writer/partition-reader.ts';
import { noteWriter } from './note-writer.ts';

const noted = async (histories: readonly string[], each = 3): Promise<MemoryLog> => {
  const log = await openMemoryLog();
  const writer = await noteWriter(log);
  for (let i = 0; i < each; i++)
    for (const history of histories) await writer.write(noteIntent(history, `${history}${i}`, `note ${i}`));
  await writer.close();
  return log;
};

/**
 * The log, which returns nothing from an offset on although it ends after it. It counts how often it is read: no
 * time-out ends a loop that never waits.
 */
const silentFrom = (log: EventLog, offset: number): EventLog => {
  let reads = 0;
  return {
    ...log,
    read: async (partition, from, options) => {
      if (++reads > 100) throw new Error('the log was read for ever');
      if (from >= offset) return { records: [], next: from };
      const { records } = await log.read(partition, from, options);
      const some = records.filter((record) => record.offset < offset);
      return { records: some, next: some.at(-1)?.next ?? from };
    },
  };
};

describe('a reader of a writer', () => {
  it(
    'does not check records against a head that is newer than they are',
    { tags: ['record§5:heads'] },
    async () => {
      const log = await noted(['h']);
      const early = openNoteRows(log);
      const reader = await openPartitionReader(log, early.domain, 0);
      const rows = openNoteRows(log);
      await rows.catchUp();
      const end = await log.end(0);
      reader.follow('h', rows.head('h') as HeadState, end);
      // One of them was damaged after the rows had been made of it: the head already stands behind it.
      const records = [...log.records(0)];
      records[2] = { ...(records[2] as LogRecord), bytes: Uint8Array.of(1) };
      const checked = await reader.check(records);
      expect(checked.accepted.filter(({ control }) => !control)).toEqual([]);
      expect(reader.checkpoint().state.stale).toMatchObject({ repeated: 0, overtaken: 0, unfit: 0 });
      expect(reader.head('h')).toEqual(rows.head('h'));
    },
  );

  it('judges no frame of a history that the writer does not write to, and keeps no head of it', async () => {
    const log = await noted(['h']);
    const rows = openNoteRows(log);
    await rows.catchUp({ until: 2 });
    const reader = await openPartitionReader(log, rows.domain, 0);
    const { accepted } = await reader.check(await reader.read());
    expect(accepted).toEqual([]);
    expect(reader.checkpoint().state.stale).toMatchObject({ unfit: 0 });
    expect(reader.head('h')).toBeUndefined();
  });

  it(
    'takes damage for that of a history that the rows know, though the writer does not write to it',
    { tags: ['record§2:unknown-key'] },
    async () => {
      const log = await noted(['h']);
      const rows = openNoteRows(log);
      await rows.catchUp({ until: 2 });
      const reader = await openPartitionReader(log, rows.domain, 0);
      const records = [...log.records(0)];
      records[3] = { ...(records[3] as LogRecord), bytes: Uint8Array.of(1), keyVouched: false };
      const { damage } = await reader.check(records.slice(2));
      expect(damage).toEqual([{ offset: 3, history: 'h', seq: 2, affectsWholePartition: false }]);
      expect(reader.closed()).toBeNull();
    },
  );
});

describe('a writer', () => {
  it(
    'is closed only after every command that it accepted has an outcome',
    { tags: ['record§3:outcome'] },
    async () => {
      const log = await openMemoryLog();
      const slow: EventLog = {
        ...log,
        append: async (...given) => {
          for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
          return log.append(...given);
        },
      };
      const writer = await noteWriter(slow, { ahead: 1 });
      const settled: string[] = [];
      const writes = ['a', 'b', 'c'].map((id) =>
        writer.write(noteIntent('h', id, id)).then(() => settled.push(id)),
      );
      await Promise.resolve();
      await writer.close();
      expect(settled).toEqual(['a', 'b', 'c']);
      await Promise.all(writes);
    },
  );

  it(
    'never sends a frame again that it gave up behind damage, and sends others',
    { tags: ['record§2:damaged', 'record§3:unknown-outcome'] },
    async () => {
      const log = await openMemoryLog();
      const sent: string[][] = [];
      const faulty: EventLog = {
        ...log,
        keepsItsEnd: false,
        append: async (partition, entries) => {
          sent.push(entries.map(({ key }) => key));
          if (sent.length > 1) return log.append(partition, entries);
          await log.append(0, [{ key: 'ha', bytes: Uint8Array.of(1, 2, 3) }]);
          throw new Error('the acknowledgement was lost, and so was the batch');
        },
      };
      const writer = await noteWriter(faulty);
      const answers = await Promise.allSettled(
        ['ha', 'hb'].map((history) => writer.write(noteIntent(history, 'c', 'note'))),
      );
      expect(answers).toMatchObject([
        { status: 'rejected', reason: { code: 'E_OUTCOME_UNKNOWN' } },
        { status: 'fulfilled', value: { seq: 0 } },
      ]);
      expect(sent).toEqual([['ha', 'hb'], ['hb']]);
      await expect(writer.write(noteIntent('ha', 'd', 'note'))).rejects.toMatchObject({
        code: 'E_HISTORY_DAMAGED',
      });
      expect(sent).toHaveLength(2);
    },
  );
});

describe('a log that is opened', () => {
  it('while another process opens it takes the record that appeared between two reads; a log that returns nothing is refused', async () => {
    const log = await openMemoryLog();
    let looks = 0;
    const late: EventLog = {
      ...log,
      read: async (partition, from, options) =>
        looks++ === 0 ? { records: [], next: from } : log.read(partition, from, options),
    };
    expect(await readStoredLog(late)).toMatchObject({ partitions: 1 });
    expect(looks).toBe(2);
    await expect(readStoredLog(silentFrom(log, 0))).rejects.toMatchObject({ code: 'E_BUSY' });
  });
});

describe('a log that is verified', () => {
  it('counts all records, and those that are accepted', { tags: ['record§2:verify'] }, async () => {
    const log = await noted(['ha', 'hb']);
    await log.append(0, [log.records(0).at(-1) as { key: string; bytes: Uint8Array }]);
    const report = await verifyLog(log, { contents: NO_CONTENTS });
    expect(report).toMatchObject({ records: 8, accepted: 7, stale: { repeated: 1 }, problems: [] });
  });

  it(
    'has the events of every accepted frame checked, and names those that fail',
    { tags: ['record§2:verify'] },
    async () => {
      const checked: string[] = [];
      const { problems } = await verifyLog(await noted(['ha', 'hb'], 2), {
        contents: NO_CONTENTS,
        check: ({ body: { command } }) => {
          checked.push(command);
          if (command === 'hb1') throw fail('E_HISTORY_DEFECTIVE', 'this note does not apply');
        },
      });
      expect(checked).toEqual(['ha0', 'hb0', 'ha1', 'hb1']);
      expect(problems).toMatchObject([{ history: 'hb', seq: 1, kind: 'defective' }]);
    },
  );

  it('and returns no record before its end is reported as not whole, and the reader stops', async () => {
    const log = silentFrom(await noted(['ha', 'hb']), 3);
    await expect(verifyLog(log, { contents: NO_CONTENTS })).rejects.toMatchObject({ code: 'E_BUSY' });
    const rows = openNoteRows(log);
    await rows.catchUp();
    expect(rows.checkpoint(0)?.cursor.offset).toBe(3);
    const checkpoint = rows.checkpoint(0)!;
    for await (const batch of readPartition(log, { checkpoint, heads: { load: () => new Map() } }))
      expect(batch).toBe('nothing');
  });

  it('and returns nothing before its end is not searched for damage, and gives no head', async () => {
    const log = silentFrom(await noted(['ha', 'hb']), 3);
    const end = await log.end(0);
    await expect(damagedRecords(log, 0, { from: 0, to: end }, () => false)).rejects.toMatchObject({
      code: 'E_BUSY',
    });
    await expect(scanHead(log, 0, 'ha', undefined, 0, end, () => Promise.resolve())).rejects.toMatchObject({
      code: 'E_BUSY',
    });
  });
});

describe('a loop of recovery', () => {
  it('ends with an error when a round makes no progress, and goes on as long as each does', () => {
    const round = progressGuard('the rows are rebuilt', 3);
    for (const place of [1, 1, 1, 2, 2, 2, 1]) round(place);
    round(1);
    round(1);
    expect(() => round(1)).toThrow('the rows are rebuilt, but stay at 1: tried 3 times');
  });
});
