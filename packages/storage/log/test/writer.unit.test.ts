import { describe, expect, it } from 'vitest';
import { noteIntent, openNoteRows, type Note } from '../src/contract/note-domain.ts';
import {
  openMemoryLog,
  openRecord,
  type Domain,
  type EventLog,
  type Intent,
  type MemoryLog,
  type Session,
} from '../src/index.ts';
import { noteWriter } from './note-writer.ts';

const notes = async (log: EventLog, history: string): Promise<readonly string[]> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  return rows.notes(history);
};
const seqs = (log: MemoryLog): (string | undefined)[] =>
  log.records(0).map(({ bytes }) => {
    const envelope = openRecord(bytes)?.envelope;
    return envelope && `${envelope.history} ${envelope.seq}`;
  });

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the writer', () => {
  it(
    'gives a repeated command its first answer, without a second effect, also after a restart',
    { tags: ['record§3:commands-remembered'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      const first = await writer.write(noteIntent('h', 'a', 'one'));
      expect(first).toMatchObject({ seq: 0, repeated: false, offset: 1, next: 2 });
      expect(await writer.write(noteIntent('h', 'a', 'one'))).toMatchObject({ seq: 0, repeated: true });
      const other = await noteWriter(log);
      expect(await other.write(noteIntent('h', 'a', 'one'))).toMatchObject({ seq: 0, repeated: true });
      expect(await notes(log, 'h')).toEqual(['one']);
    },
  );

  it(
    'gives repetitions that arrive before the first answer the same answer',
    { tags: ['record§3:commands-remembered'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      const answers = await Promise.all([1, 2, 3].map(() => writer.write(noteIntent('h', 'a', 'one'))));
      expect(answers.map(({ seq, repeated }) => [seq, repeated])).toEqual([
        [0, false],
        [0, true],
        [0, true],
      ]);
      expect(await notes(log, 'h')).toEqual(['one']);
    },
  );

  it(
    'refuses an id that belongs to another command',
    { tags: ['record§3:commands-remembered'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      await writer.write(noteIntent('h', 'a', 'one'));
      await expect(writer.write(noteIntent('h', 'a', 'two'))).rejects.toMatchObject({
        code: 'E_COMMAND_REUSED',
      });
      expect((await writer.write(noteIntent('other', 'a', 'two'))).seq).toBe(0);
    },
  );

  it(
    'does not remember refusals: a refused command that is sent again is decided again',
    { tags: ['record§3:refusals-forgotten'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      await expect(writer.write(noteIntent('h', 'a', 'refused'))).rejects.toMatchObject({
        code: 'E_COMMAND_INVALID',
      });
      expect((await writer.write(noteIntent('h', 'a', 'taken'))).seq).toBe(0);
    },
  );

  it(
    'reports a conflict only if the newest frame of the history is not the expected one',
    { tags: ['record§3:outcome'] },
    async () => {
      const log = await openMemoryLog();
      const [one, two] = [await noteWriter(log), await noteWriter(log)];
      await one.write(noteIntent('h', 'a', 'a', -1));
      await two.write(noteIntent('h', 'b', 'b', 0));
      // The first writer has not read that yet.
      expect((await one.write(noteIntent('h', 'c', 'c', 1))).seq).toBe(2);
      await expect(two.write(noteIntent('h', 'd', 'd', 1))).rejects.toMatchObject({
        code: 'E_CONFLICT',
        detail: { seq: 2 },
      });
      await expect(one.write(noteIntent('h', 'e', 'e', -1))).rejects.toMatchObject({ code: 'E_CONFLICT' });
      // A repeated command gets its answer whatever it expected.
      expect(await two.write(noteIntent('h', 'b', 'b', 0))).toMatchObject({ seq: 1, repeated: true });
      expect(await notes(log, 'h')).toEqual(['a', 'b', 'c']);
    },
  );

  it(
    'decides commands in the order of the calls, and appends many in two batches, of which the second is decided while the first is on its way',
    { tags: ['record§3:batches'] },
    async () => {
      const log = await openMemoryLog();
      const batches: number[] = [];
      let decided = 0;
      const decidedBefore: number[] = [];
      const counting: EventLog = {
        ...log,
        append: async (partition, entries) => {
          batches.push(entries.length);
          for (let i = 0; i < 20; i++) await later();
          decidedBefore.push(decided);
          return log.append(partition, entries);
        },
      };
      const keep = (): void => {
        decided++;
      };
      const writer = await noteWriter(counting, { decoded: { keep } });
      const ids = Array.from({ length: 101 }, (_, i) => `c${i}`);
      await Promise.all(ids.map((id) => writer.write(noteIntent('h', id, id))));
      expect(await notes(log, 'h')).toEqual(ids);
      expect([batches, decidedBefore]).toEqual([
        [51, 50],
        [101, 101],
      ]);
      await Promise.all(ids.slice(0, 16).map((id) => writer.write(noteIntent('i', id, id))));
      expect(batches.slice(2)).toEqual([16]);
    },
  );

  it(
    'decides again when another writer was first, one frame at a time until conflicts end',
    { tags: ['record§3:outcome', 'record§3:batches'] },
    async () => {
      const log = await openMemoryLog();
      const [slow, fast] = [await noteWriter(log), await noteWriter(log)];
      await slow.write(noteIntent('h', 's', 's'));
      await fast.write(noteIntent('h', 'f', 'f'));
      const ids = ['1', '2', '3', '4', '5', '6', '7'];
      await Promise.all(ids.map((id) => slow.write(noteIntent('h', id, id))));
      expect(await notes(log, 'h')).toEqual(['s', 'f', ...ids]);
      // Seven decided on the past that was taken, then one by one, then the rest at once.
      expect(seqs(log).slice(3, 10)).toEqual([1, 2, 3, 4, 5, 6, 7].map((seq) => `h ${seq}`));
      expect(seqs(log).slice(10)).toEqual([2, 3, 4, 5, 6, 7, 8].map((seq) => `h ${seq}`));
    },
  );

  it('gives up after `tries` attempts', { tags: ['record§3:outcome'] }, async () => {
    const log = await openMemoryLog();
    const rival = await noteWriter(log);
    let n = 0;
    const contested: EventLog = {
      ...log,
      append: async (...args) => {
        await rival.write(noteIntent('h', `r${n}`, `r${n++}`));
        return log.append(...args);
      },
    };
    const writer = await noteWriter(contested, { tries: 5 });
    await expect(writer.write(noteIntent('h', 'a', 'a'))).rejects.toMatchObject({ code: 'E_CONFLICT' });
    expect(n).toBe(5);
  });

  it(
    'refuses to start a history anew when the log returns less than before, and accepts the same command later',
    { tags: ['record§3:outcome'] },
    async () => {
      const log = await openMemoryLog();
      const other = await noteWriter(log);
      for (const i of [1, 2, 3]) await other.write(noteIntent('h', `o${i}`, 'o'));
      let forgetful = false;
      const writer = await noteWriter({
        ...log,
        keepsItsEnd: false,
        // As a broker that has just come back: what it acknowledged is not there for a moment.
        read: async (partition, from, options) =>
          forgetful && from < 5 ? { records: [], next: from } : log.read(partition, from, options),
      });
      for (const i of [4, 5]) await other.write(noteIntent('h', `o${i}`, 'o'));
      await writer.write(noteIntent('another', 'x', 'x'));
      forgetful = true;
      await expect(writer.write(noteIntent('h', 'mine', 'mine'))).rejects.toMatchObject({ code: 'E_BUSY' });
      forgetful = false;
      expect((await writer.write(noteIntent('h', 'mine', 'mine'))).seq).toBe(5);
    },
  );

  it(
    'trusts the offset of a frame that directly follows its last record, with the same outcome as reading it back',
    { tags: ['record§3:known-without-reading'] },
    async () => {
      const outcomes: unknown[] = [];
      for (const keepsItsEnd of [true, false]) {
        const log = await openMemoryLog();
        let reads = 0;
        const writer = await noteWriter({
          ...log,
          keepsItsEnd,
          read: (...args) => (reads++, log.read(...args)),
        });
        await writer.write(noteIntent('h', 'first', 'first'));
        const before = reads;
        const answers = await Promise.all([1, 2, 3].map((i) => writer.write(noteIntent('h', `a${i}`, 'a'))));
        expect(reads === before).toBe(keepsItsEnd);
        outcomes.push(answers, seqs(log));
      }
      expect(outcomes.slice(0, 2)).toEqual(outcomes.slice(2));
    },
  );

  it(
    'reports an unknown outcome when the log does not answer in time, and the same command finds the outcome later',
    { tags: ['record§3:unknown-outcome'] },
    async () => {
      const log = await openMemoryLog();
      let silent = true;
      const dumb: EventLog = {
        ...log,
        keepsItsEnd: false,
        append: async (...args) => {
          const placed = await log.append(...args);
          if (silent) throw new Error('no answer');
          return placed;
        },
        read: async (...args) => {
          if (silent && log.records(0).length > 1) return { records: [], next: args[1] };
          return log.read(...args);
        },
      };
      let clock = 0;
      const writer = await noteWriter(dumb, { deadline: 100, now: () => (clock += 20) });
      await expect(writer.write(noteIntent('h', 'a', 'a'))).rejects.toMatchObject({
        code: 'E_OUTCOME_UNKNOWN',
      });
      silent = false;
      expect(await writer.write(noteIntent('h', 'a', 'a'))).toMatchObject({ seq: 0 });
      expect(await writer.write(noteIntent('h', 'a', 'a'))).toMatchObject({ seq: 0, repeated: true });
      expect(await notes(log, 'h')).toEqual(['a']);
    },
  );

  it(
    'writes no frame that its own check would refuse as defective',
    { tags: ['record§3:checked-before-append'] },
    async () => {
      const log = await openMemoryLog();
      const rows = openNoteRows(log);
      await rows.catchUp();
      const domain: Domain<Note> = {
        ...rows.domain,
        load: async (history, from) => {
          const loaded = await rows.domain.load(history, from);
          const wrong = { type: 'PositionAnnotated' as const, branchId: 0, seq: 7, note: 'x' };
          Object.defineProperties(loaded.session, {
            decide: { value: () => ({ author: { recorder: 'r' }, at: 1n, branchId: 0, events: [wrong] }) },
          });
          return loaded;
        },
      };
      const writer = await noteWriter(log, { domain });
      await expect(writer.write(noteIntent('h', 'a', 'a'))).rejects.toMatchObject({
        code: 'E_HISTORY_DEFECTIVE',
      });
      expect(log.records(0)).toHaveLength(1);
    },
  );

  it(
    'stores the contents before it appends the frame that names them',
    { tags: ['record§4:durable-first'] },
    async () => {
      const log = await openMemoryLog();
      const stored = new Map<string, Uint8Array>();
      const order: string[] = [];
      const { sha256Hex } = await import('@stemma/canonical');
      const contents = {
        put: async (bytes: Uint8Array) => {
          order.push('content');
          stored.set(sha256Hex(bytes), bytes);
        },
        get: async ({ sha256 }: { sha256: string }) => stored.get(sha256) as Uint8Array,
      };
      const rows = openNoteRows(log, contents);
      await rows.catchUp();
      const logged: EventLog = { ...log, append: (...args) => (order.push('frame'), log.append(...args)) };
      const writer = await noteWriter(logged, { domain: rows.domain, contents });
      const note = 'x'.repeat(1_000_000);
      await writer.write(noteIntent('h', 'large', note));
      expect(order).toEqual(['content', 'frame']);
      await rows.catchUp();
      expect(rows.notes('h')).toEqual([note]);
    },
  );

  it(
    'keeps only so many bytes of decision states, and loads them again',
    { tags: ['record§3'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log, { sessionBytes: 2 });
      for (let i = 0; i < 20; i++) await writer.write(noteIntent(`h${i % 5}`, `c${i}`, `${i}`));
      for (let i = 0; i < 5; i++)
        expect(await notes(log, `h${i}`)).toEqual([0, 5, 10, 15].map((n) => String(n + i)));
    },
  );

  /** A writer with room for 100 bytes of sessions, of so many bytes each from their first decision on; and those that were loaded. */
  const sizedWriter = async (bytes: number) => {
    const log = await openMemoryLog();
    const rows = openNoteRows(log);
    await rows.catchUp();
    const { domain } = rows;
    const loaded: string[] = [];
    const load: typeof domain.load = async (history, from) => {
      loaded.push(history);
      const { session, ...rest } = await domain.load(history, from);
      let read = 1;
      const sized = Object.create(session, {
        bytes: { get: () => read },
        decide: {
          value: (intent: Intent<Note>) => {
            read = bytes;
            return session.decide(intent);
          },
        },
      }) as Session<Note>;
      return { session: sized, ...rest };
    };
    const writer = await noteWriter(log, { domain: { ...domain, load }, sessionBytes: 100 });
    return { loaded, writer };
  };

  it(
    'finds most histories in memory that are written to in turn, though not all have room',
    { tags: ['record§3'] },
    async () => {
      const { loaded, writer } = await sizedWriter(10);
      for (let i = 0; i < 240; i++) await writer.write(noteIntent(`h${i % 12}`, `c${i}`, `${i}`));
      // Twelve at first, and then four of twelve a round; nine stay.
      expect(loaded.length).toBeLessThan(12 + 19 * 4);
    },
  );

  it('counts what a session reads for its first command', { tags: ['record§3'] }, async () => {
    const { loaded, writer } = await sizedWriter(60);
    for (const history of ['a', 'b', 'a']) await writer.write(noteIntent(history, `c${loaded.length}`, 'x'));
    expect(loaded).toEqual(['a', 'b', 'a']);
  });

  it('reads a history that it evicted back only from where it was', { tags: ['decision-0073'] }, async () => {
    const log = await openMemoryLog();
    const rows = openNoteRows(log);
    await rows.catchUp();
    const asked: (readonly [string, number])[] = [];
    const load: typeof rows.domain.load = (history, from) => {
      asked.push([history, from]);
      return rows.domain.load(history, from);
    };
    const writer = await noteWriter(log, { domain: { ...rows.domain, load }, sessionBytes: 2 });
    for (let i = 0; i < 9; i++) await writer.write(noteIntent(`h${i % 3}`, `c${i}`, `${i}`));
    expect(asked.filter(([history]) => history === 'h0').map(([, from]) => from)).toEqual([0, 1, 2]);
  });

  it(
    'refuses commands after it is closed, and gives all earlier commands their outcome',
    { tags: ['record§3'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      const writing = writer.write(noteIntent('h', 'a', 'a'));
      await writer.close();
      expect((await writing).seq).toBe(0);
      await expect(writer.write(noteIntent('h', 'b', 'b'))).rejects.toMatchObject({ code: 'E_LOG_CLOSED' });
    },
  );
});
