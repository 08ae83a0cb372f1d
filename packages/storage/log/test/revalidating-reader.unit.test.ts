import { expect, it } from 'vitest';
import { noteIntent, openNoteRows, type Note } from '../src/contract/note-domain.ts';
import { openMemoryLog, type EventLog, type MemoryLog, type Writer } from '../src/index.ts';
import { noteWriter } from './note-writer.ts';

/** A log whose brokers lose its newest records and are given others, over a connection that is then made anew. */
const shaky = async () => {
  const memory: MemoryLog = await openMemoryLog();
  let epoch = 0;
  const renew = (): void => {
    epoch++;
  };
  return {
    renew,
    open: (trusted: boolean, read: EventLog['read'] = (...args) => memory.read(...args)): EventLog => ({
      ...memory,
      keepsItsEnd: trusted,
      epoch: () => epoch,
      read,
    }),
    memory,
    /** Others, who know nothing of what was lost, write in its place and beyond. */
    loseAndGrow: async (records: number): Promise<void> => {
      memory.records(0).splice(-records);
      const other = await noteWriter(memory);
      for (let i = 0; i < 2 * records; i++) await other.write(noteIntent('other', `o${i}`, 'o'));
    },
  };
};

const write = async (writer: Writer<Note>, count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await writer.write(noteIntent('h', `c${i}`, `note ${i}`));
};

it.each([
  ['by its offset', true],
  ['by reading', false],
])(
  'a writer that knows %s what was accepted acknowledges nothing on a log that lost its end and grew again, and continues after it starts anew',
  { tags: ['record§5:lost-end', 'record§3:outcome'] },
  async (_how, trusted) => {
    const log = await shaky();
    const writer = await noteWriter(log.open(trusted));
    await write(writer, 5);
    await log.loseAndGrow(2);
    log.renew();
    await expect(writer.write(noteIntent('h', 'late', 'late'))).rejects.toMatchObject({
      code: 'E_CURSOR_LOST',
    });
    await expect(writer.write(noteIntent('h', 'c4', 'note 4'))).resolves.toMatchObject({
      repeated: false,
      seq: 3,
    });
    const rows = openNoteRows(log.memory);
    await rows.catchUp();
    expect(rows.notes('h')).toEqual(['note 0', 'note 1', 'note 2', 'note 4']);
  },
);

it(
  'when the log loses its end while a frame is in flight the outcome is unknown, whatever offset was answered',
  { tags: ['record§5:lost-end', 'record§3:unknown-outcome'] },
  async () => {
    const log = await shaky();
    const under = log.open(true);
    let losing = false;
    const writer = await noteWriter({
      ...under,
      append: async (partition, entries) => {
        if (losing) {
          await log.loseAndGrow(1);
          log.memory.records(0).splice(-1);
          log.renew();
        }
        return under.append(partition, entries);
      },
    });
    await write(writer, 5);
    losing = true;
    await expect(writer.write(noteIntent('h', 'late', 'late'))).rejects.toMatchObject({
      code: 'E_OUTCOME_UNKNOWN',
    });
  },
);

it(
  'a reader refuses records that come over a renewed connection if those it read before are gone',
  { tags: ['record§5:lost-end'] },
  async () => {
    const log = await shaky();
    await write(await noteWriter(log.open(true)), 5);
    let reads = 0;
    const under = log.open(true, async (partition, from, options) => {
      // The first time this was the end; now it follows on a check that held.
      if (from === 6 && ++reads === 2) {
        await log.loseAndGrow(2);
        log.renew();
      }
      return log.memory.read(partition, from, options);
    });
    const rows = openNoteRows(under);
    await rows.catchUp();
    const before = rows.notes('h').length;
    await expect(rows.catchUp()).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    expect(rows.notes('h')).toHaveLength(before);
  },
);
