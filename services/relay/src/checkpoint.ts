import { fail, reasonOf } from '@stemma/errors';
import { cursorAtStart, type Cursor, type EventLog } from '@stemma/log';
import { readRegularFile, replaceFile } from '@stemma/machine';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** How far the relay has published a partition of the log: everything before the cursor, except what it holds back. */
export type RelayCheckpoint = {
  readonly cursor: Cursor;
  /** Damaged or defective histories, each with the `seq` from which nothing is published until it is whole again. */
  readonly held: ReadonlyMap<string, number>;
  /** For each partition of the topic the offset after the last acknowledged record. A topic that ends before it lost records. */
  readonly ends: ReadonlyMap<number, number>;
  /** The number of the topic's partitions. With another number, histories would move to other partitions. */
  readonly partitions: number;
};

/** Stores the checkpoints for one topic: one file for each partition of the log, written as a whole and synced. */
export type CheckpointStore = {
  load(partition: number): Promise<RelayCheckpoint | undefined>;
  save(partition: number, checkpoint: RelayCheckpoint): Promise<void>;
};

/** The checkpoint of a relay that has published nothing: the beginning of the log or, with `fromNow`, its end. */
export const firstCheckpoint = async (
  log: EventLog,
  partition: number,
  { now, partitions }: { readonly now: boolean; readonly partitions: number },
): Promise<RelayCheckpoint> => ({
  cursor: cursorAtStart(log.id, partition, await (now ? log.end(partition) : log.start(partition))),
  held: new Map(),
  ends: new Map(),
  partitions,
});

export const openCheckpointStore = async (directory: string): Promise<CheckpointStore> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const fileOf = (partition: number): string => join(directory, `${partition}.json`);
  return {
    load: async (partition) => {
      const text = readIfThere(fileOf(partition));
      return text === undefined ? undefined : parse(text, fileOf(partition));
    },
    save: async (partition, { cursor, held, ends, partitions }) => {
      const tail = Buffer.from(cursor.tail).toString('base64');
      const stored = { cursor: { ...cursor, tail }, held: [...held], ends: [...ends], partitions };
      await replaceFile(fileOf(partition), `${JSON.stringify(stored)}\n`);
    },
  };
};

/** @throws E_IO */
const readIfThere = (file: string): string | undefined => {
  try {
    return readRegularFile(file).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fail('E_IO', `the checkpoint cannot be read: ${reasonOf(error)}`);
  }
};

type StoredCheckpoint = {
  readonly cursor: Omit<Cursor, 'tail'> & { readonly tail: string };
  readonly held: readonly (readonly [string, number])[];
  readonly ends: readonly (readonly [number, number])[];
  readonly partitions: number;
};

const parse = (text: string, file: string): RelayCheckpoint => {
  try {
    const { cursor, held, ends, partitions } = JSON.parse(text) as StoredCheckpoint;
    const tail = new Uint8Array(Buffer.from(cursor.tail, 'base64'));
    return { cursor: { ...cursor, tail }, held: new Map(held), ends: new Map(ends), partitions };
  } catch {
    throw fail('E_CURSOR_LOST', `${file} cannot be read: nobody knows any more how far was published`);
  }
};
