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
    '%s answers with that error at once, and decides the next command as if the first had not been [record §3: outcome]',
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

  it('is busy at the second send goes on: the first may have been written [record §3: unknown outcome]', async () => {
    const log = await openMemoryLog();
    const refusing = failing(log, [lost, fail('E_LOG_BUSY', 'busy')]);
    const writer = await noteWriter(refusing);
    expect(await writer.write(noteIntent('h', 'a', 'a'))).toMatchObject({ seq: 0 });
    expect(refusing.sends()).toBe(3);
  });

  it('takes nothing gives up after 30 seconds, and not before [record §3: unknown outcome]', async () => {
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
  });

  it('stopped all that it sent by damage makes no pause for it [record §2: damaged]', async () => {
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
    load: (n: number, domain: Domain<Note>, history: string) => ReturnType<Domain<Note>['load']>,
  ): Promise<Domain<Note>> => {
    const rows = openNoteRows(log);
    await rows.catchUp();
    let loads = 0;
    return { ...rows.domain, load: (history) => load(++loads, rows.domain, history) };
  };

  it('keeps decision states up to a number of bytes together, each of these taking one [record §3]', async () => {
    const log = await openMemoryLog();
    let loads = 0;
    const domain = await loading(log, (n, rows, history) => {
      loads = n;
      return rows.load(history);
    });
    const writer = await noteWriter(log, { domain, sessionBytes: 64 });
    for (const round of ['a', 'b'])
      for (let i = 0; i < 64; i++) await writer.write(noteIntent(`h${i}`, round, round));
    expect(loads).toBe(64);
    for (const history of ['h64', 'h0']) await writer.write(noteIntent(history, 'c', 'c'));
    expect(loads).toBe(66);
  });

  it('loads a decision state again that rests on another frame than its reader knows [record §3]', async () => {
    const log = await openMemoryLog();
    await (await noteWriter(log)).write(noteIntent('h', 'a', 'a'));
    const domain = await loading(log, async (n, rows, history) => {
      const session = await rows.load(history);
      if (n > 1) return session;
      return Object.defineProperties(session, { prev: { value: new Uint8Array(32).fill(9) } });
    });
    let clock = 0;
    const writer = await noteWriter(log, { domain, deadline: 100, now: () => (clock += 20) });
    expect(await writer.write(noteIntent('h', 'b', 'b'))).toMatchObject({ seq: 1 });
    expect(log.records(0)).toHaveLength(3);
  });
});
