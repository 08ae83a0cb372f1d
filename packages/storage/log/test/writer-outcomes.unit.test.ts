import { fail } from '@stemma/errors';
import { describe, expect, it } from 'vitest';
import { noteIntent, openNoteRows, type Note } from '../src/contract/note-domain.ts';
import { openMemoryLog, type Domain, type EventLog, type MemoryLog } from '../src/index.ts';
import { noteWriter } from './note-writer.ts';

type Append = EventLog['append'];

/** The log, whose appends fail one after the other as the list says, and succeed where it says nothing. */
const failing = (
  log: MemoryLog,
  errors: readonly (Error | undefined)[],
): EventLog & { sends: () => number } => {
  let sends = 0;
  const append: Append = async (...given) => {
    const error = errors[sends++];
    if (error !== undefined) throw error;
    return log.append(...given);
  };
  return { ...log, append, sends: () => sends };
};
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const lost = new Error('no answer');

describe('a writer whose log', () => {
  it.each([
    ['is busy', fail('E_LOG_BUSY', 'busy')],
    ['is closed', fail('E_LOG_CLOSED', 'closed')],
    ['says that it wrote nothing', fail('E_INTERNAL', 'no', { written: false })],
  ])(
    '%s answers with that error at once, and decides the next command as if the first had not been',
    { tags: ['record§3:outcome'] },
    async (_what, error) => {
      const log = await openMemoryLog();
      const refusing = failing(log, [error]);
      const writer = await noteWriter(refusing);
      const answers = await Promise.allSettled(['a', 'b'].map((id) => writer.write(noteIntent('h', id, id))));
      expect(answers).toEqual([1, 2].map(() => ({ status: 'rejected', reason: error })));
      expect(refusing.sends()).toBe(1);
      expect(await writer.write(noteIntent('h', 'c', 'c'))).toMatchObject({ seq: 0, repeated: false });
    },
  );

  it(
    'is busy at the second send goes on: the first may have been written',
    { tags: ['record§3:unknown-outcome'] },
    async () => {
      const log = await openMemoryLog();
      const refusing = failing(log, [lost, fail('E_LOG_BUSY', 'busy')]);
      const writer = await noteWriter(refusing);
      expect(await writer.write(noteIntent('h', 'a', 'a'))).toMatchObject({ seq: 0 });
      expect(refusing.sends()).toBe(3);
    },
  );

  it(
    'takes nothing gives up after 30 seconds, and not before',
    { tags: ['record§3:unknown-outcome'] },
    async () => {
      const times = [29_999, 30_000];
      let clock = 0;
      const refusing = failing(await openMemoryLog(), [lost, lost, lost]);
      const writer = await noteWriter(refusing, {
        now: () => clock,
        sleep: async () => {
          clock = times.shift() ?? clock;
        },
      });
      await expect(writer.write(noteIntent('h', 'a', 'a'))).rejects.toMatchObject({
        code: 'E_OUTCOME_UNKNOWN',
      });
      expect(refusing.sends()).toBe(3);
    },
  );

  it('stopped all that it sent by damage makes no pause for it', { tags: ['record§2:damaged'] }, async () => {
    const log = await openMemoryLog();
    let pauses = 0;
    const writer = await noteWriter(
      {
        ...log,
        append: async () => {
          await log.append(0, [{ key: 'h', bytes: Uint8Array.of(1, 2, 3) }]);
          throw lost;
        },
      },
      { sleep: () => (pauses++, later()) },
    );
    await expect(writer.write(noteIntent('h', 'a', 'a'))).rejects.toMatchObject({
      code: 'E_OUTCOME_UNKNOWN',
    });
    await writer.close();
    expect(pauses).toBe(0);
  });
});

describe('a writer with commands that were decided while others were on their way', () => {
  const ids = Array.from({ length: 40 }, (_, i) => `${i}`);
  const histories = (id: string): string => `h${Number(id) % 2}`;
  const writeAll = async (log: EventLog, options = {}): Promise<readonly PromiseSettledResult<unknown>[]> => {
    const writer = await noteWriter(log, options);
    return Promise.allSettled(ids.map((id) => writer.write(noteIntent(histories(id), id, id))));
  };
  const codes = (answers: readonly PromiseSettledResult<unknown>[]): readonly unknown[] => [
    ...new Set(
      answers.map((answer) =>
        answer.status === 'fulfilled' ? 'accepted' : (answer.reason as { code?: unknown }).code,
      ),
    ),
  ];

  it(
    'that are given up decides them again, on what is there then',
    { tags: ['record§3:unknown-outcome'] },
    async () => {
      let clock = 0;
      const log = await openMemoryLog();
      const refusing = failing(log, [lost, lost, lost]);
      const sleep = async (): Promise<void> => {
        clock += 20_000;
        await later();
      };
      const answers = await writeAll(refusing, { now: () => clock, sleep });
      // 20 commands were sent three times and are nowhere: nobody knows. The others follow no frame of these.
      expect(codes(answers)).toEqual(['E_OUTCOME_UNKNOWN', 'accepted']);
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
      expect(log.records(0)).toHaveLength(21);
    },
  );

  it('that another writer overtook decides all of them again', { tags: ['record§3:outcome'] }, async () => {
    const log = await openMemoryLog();
    const rival = await noteWriter(log);
    let first = true;
    const contested: EventLog = {
      ...log,
      append: async (...given) => {
        if (first) {
          first = false;
          await rival.write(noteIntent('h0', 'rival', 'rival'));
        }
        return log.append(...given);
      },
    };
    const answers = await writeAll(contested);
    expect(codes(answers)).toEqual(['accepted']);
    const seqs = answers.flatMap((answer, i) =>
      answer.status === 'fulfilled' && i % 2 === 0 ? [(answer.value as { seq: number }).seq] : [],
    );
    expect(seqs).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it(
    'that damage closes to the partition refuses them, and sends none of them',
    { tags: ['record§2:unknown-key'] },
    async () => {
      const log = await openMemoryLog();
      let sends = 0;
      const answers = await writeAll({
        ...log,
        append: async (...given) => {
          sends++;
          await log.append(...given);
          await log.append(0, [{ key: 'h', bytes: Uint8Array.of(1, 2, 3) }]);
          const records = log.records(0);
          records[records.length - 1] = { ...records.at(-1)!, key: null };
          throw lost;
        },
      });
      expect(codes(answers)).toEqual(['accepted', 'E_PARTITION_CLOSED']);
      expect(sends).toBe(1);
    },
  );
});

describe('a writer', () => {
  it('that was closed writes nothing more', async () => {
    const log = await openMemoryLog();
    const writer = await noteWriter(log);
    await writer.close();
    await expect(writer.write(noteIntent('h', 'a', 'a'))).rejects.toMatchObject({ code: 'E_LOG_CLOSED' });
    for (let i = 0; i < 20; i++) await later();
    expect(log.records(0)).toHaveLength(1);
  });

  /** Notes whose decision states are counted, or changed, when they are loaded. */
  const loading = async (
    log: EventLog,
    load: (
      n: number,
      domain: Domain<Note>,
      history: string,
      from: number,
    ) => ReturnType<Domain<Note>['load']>,
  ): Promise<Domain<Note>> => {
    const rows = openNoteRows(log);
    await rows.catchUp();
    let loads = 0;
    return { ...rows.domain, load: (history, from) => load(++loads, rows.domain, history, from) };
  };

  it(
    'keeps decision states up to a number of bytes together, each of these taking one',
    { tags: ['record§3'] },
    async () => {
      const log = await openMemoryLog();
      let loads = 0;
      const domain = await loading(log, (n, rows, history, from) => {
        loads = n;
        return rows.load(history, from);
      });
      const writer = await noteWriter(log, { domain, sessionBytes: 64 });
      for (const round of ['a', 'b'])
        for (let i = 0; i < 64; i++) await writer.write(noteIntent(`h${i}`, round, round));
      expect(loads).toBe(64);
      for (const history of ['h64', 'h0']) await writer.write(noteIntent(history, 'c', 'c'));
      expect(loads).toBe(66);
    },
  );

  it(
    'loads a decision state again that rests on another frame than its reader knows',
    { tags: ['record§3'] },
    async () => {
      const log = await openMemoryLog();
      await (await noteWriter(log)).write(noteIntent('h', 'a', 'a'));
      const domain = await loading(log, async (n, rows, history, from) => {
        const loaded = await rows.load(history, from);
        if (n === 1) Object.defineProperties(loaded.session, { prev: { value: new Uint8Array(32).fill(9) } });
        return loaded;
      });
      let clock = 0;
      const writer = await noteWriter(log, { domain, deadline: 100, now: () => (clock += 20) });
      expect(await writer.write(noteIntent('h', 'b', 'b'))).toMatchObject({ seq: 1 });
      expect(log.records(0)).toHaveLength(3);
    },
  );
});
