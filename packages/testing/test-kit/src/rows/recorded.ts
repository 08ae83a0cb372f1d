import { sha256 } from '@stemma/canonical';
import { openMemoryContents, type MemoryContents } from '@stemma/contents';
import type { Frame } from '@stemma/events';
import {
  encodeFrame,
  openMemoryLog,
  partitionOf,
  sealRecord,
  ZERO_HASH,
  type Entry,
  type EventLog,
  type MemoryLog,
} from '@stemma/log';
import type { Generation, Row } from '@stemma/row-store';
import fc from 'fast-check';
import { naiveHistory, type NaiveHistory } from '../naive-history.ts';
import { anyOperations, perform, START, type RandomOperation } from '../random-steps.ts';

/** Random histories, and their records in the order in which they lie in the log. */
export type Recorded = {
  readonly histories: ReadonlyMap<string, NaiveHistory>;
  readonly entries: readonly Entry[];
};

export const anyRecorded = (histories: number, acts: number): fc.Arbitrary<RandomOperation[][]> =>
  fc.array(anyOperations(1, acts), { minLength: 1, maxLength: histories });

/** Those of one seed. */
export const someRecorded = (seed: number, histories = 3, acts = 30): Recorded =>
  record(
    fc.sample(fc.array(anyOperations(acts, acts), { minLength: histories, maxLength: histories }), {
      numRuns: 1,
      seed,
    })[0] as RandomOperation[][],
  );

export const record = (all: readonly (readonly RandomOperation[])[]): Recorded => {
  const histories = new Map<string, NaiveHistory>();
  const lists = all.map((actions, i) => {
    const history = naiveHistory(() => undefined, `h${i}`);
    histories.set(`h${i}`, history);
    history.run(0, [START]);
    for (const action of actions) perform(history, action);
    return entriesOf(history.frames);
  });
  // One of each in turn, so that histories lie mixed.
  const entries: Entry[] = [];
  for (let i = 0; lists.some((list) => i < list.length); i++)
    for (const list of lists) if (i < list.length) entries.push(list[i] as Entry);
  return { histories, entries };
};

/** The records of a history's frames, each naming the hash of the one before. */
export const entriesOf = (frames: readonly Frame[]): Entry[] => {
  let prev: Uint8Array = ZERO_HASH;
  return frames.map(({ envelope, body }) => {
    const { bytes } = encodeFrame({ ...envelope, prev }, body);
    prev = sha256(bytes);
    return { key: envelope.history, bytes: sealRecord(bytes) };
  });
};

export const appendAll = async (log: EventLog, entries: readonly Entry[]): Promise<void> => {
  for (const entry of entries) await log.append(partitionOf(entry.key, log.partitions), [entry]);
};

/** The records in a log in memory. */
export const logged = async (
  { entries }: Recorded,
  partitions = 1,
): Promise<{ log: MemoryLog; contents: MemoryContents }> => {
  const log = await openMemoryLog({ partitions });
  await appendAll(log, entries);
  return { log, contents: openMemoryContents() };
};

/** Every row of every table, in the order of the store. */
export const allRows = (generation: Generation): Promise<Record<string, Row[]>> =>
  generation.scan(async (scan) => {
    const rows: Record<string, Row[]> = {};
    for (const table of generation.tables) {
      const found: Row[] = [];
      for await (const row of scan.entries(table)) found.push(row);
      rows[table.name] = found;
    }
    return rows;
  });
