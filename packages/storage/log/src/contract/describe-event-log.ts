import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HeadState } from '../checkpoint.ts';
import { acknowledgeDamage } from '../acknowledge-damage.ts';
import { checkCursor } from '../cursor.ts';
import { partitionOf } from '../partition-of.ts';
import { closedBy } from '../partition-state.ts';
import type { EventLog } from '../port.ts';
import { checkpointAtStart, readPartition } from '../read-partition.ts';
import { faultyLog, seeded, withoutVouching, type Faults } from './faults.ts';
import { bytesOf, frames, noteWriter, plain, records } from './kit.ts';
import { noteIntent, openNoteRows } from './note-domain.ts';

export type EventLogHarness = {
  /** A new, empty log with this number of partitions. */
  readonly create: (partitions: number) => Promise<EventLog>;
  /** The same log opened a second time, as another process would open it; absent where an adapter cannot do that. */
  readonly reopen?: (log: EventLog) => Promise<EventLog>;
  readonly destroy: () => Promise<void>;
};

/** What every adapter of the port must do (record §1–§5). */
export const describeEventLog = (name: string, harness: EventLogHarness): void => {
  describe(`${name} as an event log`, () => {
    let log: EventLog;
    const opened: EventLog[] = [];
    beforeEach(async () => {
      log = await harness.create(3);
      opened.push(log);
    });
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.close();
      await harness.destroy();
    });
    const another = async (): Promise<EventLog> => {
      const other = harness.reopen ? await harness.reopen(log) : log;
      if (other !== log) opened.push(other);
      return other;
    };

    it(
      'has an id, and the first record of every partition holds it',
      { tags: ['record§2:control-events', 'record§5:log-id'] },
      async () => {
        for (let partition = 0; partition < log.partitions; partition++) {
          const [first] = await frames(log, partition);
          expect(first?.body.events).toEqual([{ type: 'LogOpened', log: log.id, partitions: 3 }]);
          expect(first?.envelope).toMatchObject({ history: `log:${partition}`, seq: 0 });
        }
        expect((await another()).id).toBe(log.id);
      },
    );

    it('gives back what was appended, in order, from any record on', { tags: ['record§1'] }, async () => {
      const start = await log.end(1);
      const entries = Array.from({ length: 50 }, (_, i) => ({ key: `h${i}`, bytes: bytesOf(i) }));
      const placed = [
        ...(await log.append(1, entries.slice(0, 20))),
        ...(await log.append(1, entries.slice(20, 21))),
        ...(await log.append(1, entries.slice(21))),
      ];
      expect(placed.map(({ offset }) => offset)).toEqual([
        start,
        ...placed.slice(0, -1).map(({ next }) => next),
      ]);
      const all = await records(log, 1, start);
      expect(all.map(plain)).toEqual(
        entries.map(({ key, bytes }, i) => ({
          ...placed[i],
          key,
          bytes: Buffer.from(bytes),
          keyVouched: true,
          damaged: false,
        })),
      );
      for (const from of [7, 49]) {
        const rest = await records(await another(), 1, placed[from]?.offset ?? 0);
        expect(rest.map(plain)).toEqual(all.slice(from).map(plain));
      }
      expect(await log.end(1)).toBe(placed.at(-1)?.next);
      expect(await log.read(1, await log.end(1))).toEqual({ records: [], next: await log.end(1) });
    });

    it(
      'reads about as many bytes as requested, and at least one record',
      { tags: ['record§1'] },
      async () => {
        const from = await log.end(0);
        await log.append(
          0,
          Array.from({ length: 30 }, (_, i) => ({ key: 'k', bytes: new Uint8Array(1000).fill(i) })),
        );
        const one = await log.read(0, from, { maxBytes: 1 });
        expect(one.records).toHaveLength(1);
        expect(one.next).toBe(one.records[0]?.next);
        const some = await log.read(0, from, { maxBytes: 10_000 });
        expect(some.records.length).toBeGreaterThan(1);
        expect(some.records.length).toBeLessThan(30);
        expect((await records(log, 0, from, 3000)).map(({ bytes }) => bytes[0])).toEqual([
          ...Array(30).keys(),
        ]);
      },
    );

    it(
      'gives the records at known offsets, in as many reads as it likes',
      { tags: ['record§1'] },
      async () => {
        const placed = await log.append(
          0,
          Array.from({ length: 40 }, (_, i) => ({
            key: `k${i % 3}`,
            bytes: new Uint8Array(1000 + i).fill(i),
          })),
        );
        const wanted = placed.filter((_, i) => i % 3 === 1).map(({ offset }) => offset);
        const found = new Map<number, number>();
        for (let rest = wanted; rest.length > 0; rest = rest.filter((offset) => !found.has(offset))) {
          const [from = 0] = rest;
          const { records: read } = await log.read(0, from, { maxBytes: 9_000, known: rest });
          expect(read[0]?.offset).toBe(from);
          for (const { offset, bytes } of read) if (wanted.includes(offset)) found.set(offset, bytes.length);
        }
        expect([...found.values()]).toEqual(wanted.map((_, i) => 1_001 + 3 * i));
      },
    );

    it(
      'gives one record at a known offset, however long it is, and leaves those that were read before as they are',
      { tags: ['record§1'] },
      async () => {
        const lengths = [1, 4_000, 4_096, 5_000, 20_000, 100, 70_000, ...Array<number>(40).fill(3_000)];
        const placed = await log.append(
          0,
          lengths.map((length, i) => ({ key: 'k', bytes: new Uint8Array(length).fill(i + 1) })),
        );
        const kept: (Uint8Array | undefined)[] = [];
        for (const { offset } of placed) {
          const { records: read, next } = await log.read(0, offset, { maxBytes: 1, known: [offset] });
          expect([read[0]?.offset, read.at(-1)?.next]).toEqual([offset, next]);
          kept.push(read[0]?.bytes);
        }
        expect(kept.map((bytes) => [bytes?.length, bytes?.[0], bytes?.at(-1)])).toEqual(
          lengths.map((length, i) => [length, i + 1, i + 1]),
        );
      },
    );

    it('refuses to read from an offset at which no record begins', { tags: ['record§5'] }, async () => {
      const end = await log.end(0);
      await expect(log.read(0, end + 1)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
      await expect(log.read(0, -1)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    });

    it('appends records of 900 KiB, several in one batch', { tags: ['record§4:frame-limit'] }, async () => {
      const bytes = new Uint8Array(900 * 1024).map((_, i) => i % 251);
      const from = await log.end(2);
      await log.append(
        2,
        [1, 2, 3].map((i) => ({ key: `large${i}`, bytes })),
      );
      const back = await records(log, 2, from);
      expect(back.map(({ key, bytes: { length } }) => [key, length])).toEqual(
        [1, 2, 3].map((i) => [`large${i}`, bytes.length]),
      );
      expect(Buffer.compare(back[2]?.bytes ?? new Uint8Array(), bytes)).toBe(0);
    });

    it('resolves a wait when a record is appended', { tags: ['record§3'] }, async () => {
      const end = await log.end(0);
      const reader = await another();
      const never = new AbortController();
      const waiting = reader.wait(0, end, never.signal);
      await log.append(0, [{ key: 'k', bytes: bytesOf(1) }]);
      await waiting;
      expect(await reader.end(0)).toBeGreaterThan(end);
      await reader.wait(0, end, never.signal);
      const given = new AbortController();
      const aborted = reader.wait(0, await reader.end(0), given.signal);
      given.abort();
      await aborted;
    });

    it(
      'all readers see the same accepted frames when two writers append to one history',
      { tags: ['record§2:accepted', 'record§3:outcome'] },
      async () => {
        const writers = await Promise.all(
          [log, await another()].map(async (each) => noteWriter(each, seeded(5))),
        );
        const histories = ['hone', 'htwo', 'hthree'];
        const answers = await Promise.all(
          writers.flatMap((writer, w) =>
            histories.flatMap((history) =>
              Array.from({ length: 15 }, (_, i) =>
                writer.write(noteIntent(history, `${w}-${i}`, `${w}-${i}`)),
              ),
            ),
          ),
        );
        await Promise.all(writers.map((writer) => writer.close()));
        const rows = openNoteRows(log);
        await rows.catchUp({ maxRecords: 7 });
        for (const history of histories) {
          const mine = answers.filter((answer) => answer.history === history);
          const notes: string[] = [];
          for (const { seq, frame } of mine) notes[seq] = frame?.body.command ?? '';
          expect(rows.notes(history)).toEqual(notes);
          expect(notes).toHaveLength(30);
        }
      },
    );

    it.each<[string, Faults]>([
      ['repeated records', { repeat: 0.4 }],
      ['lost acknowledgements', { forget: 0.4 }],
      ['lost batches', { drop: 0.3 }],
      ['torn batches', { tear: 0.4 }],
      ['reordered batches', { reorder: 0.5 }],
      ['all of it', { repeat: 0.1, forget: 0.1, drop: 0.1, tear: 0.1, reorder: 0.2 }],
    ])(
      'has every note of two writers once in spite of %s',
      { tags: ['record§3:unknown-outcome', 'record§3:commands-remembered'] },
      async (_name, faults) => {
        const random = seeded(11);
        const writers = await Promise.all(
          [log, await another()].map((each) => noteWriter(faultyLog(each, faults, random), random)),
        );
        const writes = writers.flatMap((writer, w) =>
          Array.from({ length: 40 }, (_, i) =>
            writer.write(noteIntent(`hist${i % 2}`, `${w}-${i}`, `${w}-${i}`)),
          ),
        );
        // Sent again under the same ids: the same answers, no second effect.
        const resent = writers.flatMap((writer, w) =>
          Array.from({ length: 40 }, (_, i) =>
            writer.write(noteIntent(`hist${i % 2}`, `${w}-${i}`, `${w}-${i}`)),
          ),
        );
        const answers = await Promise.all(writes);
        expect((await Promise.all(resent)).map(({ seq }) => seq)).toEqual(answers.map(({ seq }) => seq));
        const rows = openNoteRows(log);
        await rows.catchUp();
        for (const history of ['hist0', 'hist1']) {
          const notes: string[] = [];
          for (const { seq, history: of, frame } of answers)
            if (of === history) notes[seq] = frame?.body.command ?? '';
          expect(rows.notes(history)).toEqual(notes);
          expect(notes).toHaveLength(40);
        }
      },
    );

    it(
      'resumes at a cursor, and refuses a cursor of another log',
      { tags: ['record§5:cursor'] },
      async () => {
        const writer = await noteWriter(log, seeded(1));
        for (let i = 0; i < 100; i++) await writer.write(noteIntent('hcursor', `c${i}`, `note ${i}`));
        const partition = partitionOf('hcursor', 3);
        const rows = openNoteRows(log);
        await rows.catchUp();
        const cursor = rows.checkpoint(partition)?.cursor;
        if (!cursor) throw new Error('no cursor');
        expect(cursor.from).toHaveLength(64);
        await checkCursor(await another(), cursor);
        await expect(checkCursor(log, { ...cursor, log: 'other' })).rejects.toMatchObject({
          code: 'E_CURSOR_LOST',
        });
        const tail = cursor.tail.slice();
        tail[5] = (tail[5] ?? 0) ^ 1;
        await expect(checkCursor(log, { ...cursor, tail })).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
      },
    );

    it(
      'guarantees the key of a record, so that a record of garbage closes only the history that its key names',
      { tags: ['record§2:damaged'] },
      async () => {
        const partition = partitionOf('hack', 3);
        const writer = await noteWriter(log, seeded(2));
        await writer.write(noteIntent('hack', 'a', 'before'));
        const [placed] = await log.append(partition, [{ key: 'nobody', bytes: bytesOf(9) }]);
        await writer.write(noteIntent('hack', 'b', 'behind'));
        const rows = openNoteRows(await another());
        await rows.catchUp();
        expect(rows.notes('hack')).toEqual(['before', 'behind']);
        expect(rows.head('nobody')).toMatchObject({ next: 0, state: 'damaged', stopped: 0 });
        expect(rows.checkpoint(partition)?.state.damage).toEqual([
          { offset: placed?.offset, history: 'nobody', seq: 0, affectsWholePartition: false },
        ]);
      },
    );

    it(
      'closes a partition at a damaged record of an unknown history, until an operator acknowledges it',
      { tags: ['record§2:unknown-key', 'record§2:control-events'] },
      async () => {
        const writer = await noteWriter(log, seeded(2));
        const partition = partitionOf('hack', 3);
        await writer.write(noteIntent('hack', 'a', 'before'));
        const [{ offset } = { offset: -1 }] = await log.append(partition, [
          { key: 'nobody', bytes: bytesOf(9) },
        ]);
        const blind = withoutVouching(log, offset);
        const start = await checkpointAtStart(blind, partition);
        const heads = new Map<string, HeadState>();
        let checkpoint = start;
        for await (const batch of readPartition(blind, { checkpoint: start, heads: { load: () => heads } })) {
          for (const [history, head] of batch.heads) heads.set(history, head);
          checkpoint = batch.checkpoint;
        }
        expect(closedBy(checkpoint.state)).toEqual({
          offset,
          history: 'nobody',
          seq: 0,
          affectsWholePartition: true,
        });
        const late = await noteWriter(blind, seeded(3));
        await expect(late.write(noteIntent('hack', 'b', 'behind'))).rejects.toMatchObject({
          code: 'E_PARTITION_CLOSED',
        });
        const author = { at: 1n, actor: 'operator', command: 'ack' };
        const ack = { load: () => heads };
        const acknowledgeOne = (at: number): Promise<unknown> =>
          acknowledgeDamage(blind, checkpoint, ack, { from: at, to: at }, author);
        await expect(acknowledgeOne(offset + 1)).rejects.toMatchObject({ code: 'E_NOTHING_TO_ACK' });
        expect(await acknowledgeOne(offset)).toEqual({ acknowledged: 1, before: 0 });
        await late.write(noteIntent('hack', 'b', 'behind'));
        const rows = openNoteRows(blind);
        await rows.catchUp();
        expect(rows.notes('hack')).toEqual(['before', 'behind']);
      },
    );

    it('refuses every call after it is closed', { tags: ['record§6'] }, async () => {
      await log.close();
      await expect(log.append(0, [{ key: 'k', bytes: bytesOf(1) }])).rejects.toMatchObject({
        code: 'E_LOG_CLOSED',
      });
      await expect(log.read(0, 0)).rejects.toMatchObject({ code: 'E_LOG_CLOSED' });
    });
  });
};
