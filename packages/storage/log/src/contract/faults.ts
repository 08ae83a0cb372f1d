import type { Entry, EntryOffset, EventLog } from '../port.ts';

/** How often a log misbehaves, each in [0, 1). */
export type Faults = {
  /** A record is stored twice. */
  readonly repeat?: number;
  /** The acknowledgement is lost: the append rejects although it was done. */
  readonly forget?: number;
  /** The append is not done, and rejects. */
  readonly drop?: number;
  /** Only a first part of the batch is stored, and the append rejects. */
  readonly tear?: number;
  /** The batch is stored in another order. */
  readonly reorder?: number;
};

/**
 * The log with the faults that any log may have (record §3); a writer and its readers must bear all of them. Offsets of
 * this log are not reliable.
 */
export const faultyLog = (log: EventLog, faults: Faults, random: () => number): EventLog => {
  const append = async (partition: number, entries: readonly Entry[]): Promise<readonly EntryOffset[]> => {
    const happens = (chance = 0): boolean => random() < chance;
    if (happens(faults.drop)) throw new Error('the batch was not stored');
    let stored = entries.flatMap((entry) => (happens(faults.repeat) ? [entry, entry] : [entry]));
    if (happens(faults.reorder)) stored = shuffled(stored, random);
    const torn = happens(faults.tear);
    if (torn) stored = stored.slice(0, Math.floor(random() * stored.length));
    const placed = await log.append(partition, stored);
    if (torn || happens(faults.forget)) throw new Error('the acknowledgement was lost');
    return placed.slice(0, entries.length);
  };
  return { ...log, keepsItsEnd: false, append };
};

/** The log, which no longer vouches for the key of the record at an offset: its header or batch was damaged too. */
export const withoutVouching = (log: EventLog, damaged: number): EventLog => ({
  ...log,
  read: async (partition, from, options) => {
    const batch = await log.read(partition, from, options);
    const records = batch.records.map((record) =>
      record.offset === damaged ? { ...record, keyVouched: false } : record,
    );
    return { ...batch, records };
  },
});

const shuffled = <T>(list: readonly T[], random: () => number): T[] => {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [copy[i], copy[k]] = [copy[k] as T, copy[i] as T];
  }
  return copy;
};

/** A generator of numbers in [0, 1) from a seed (mulberry32): the same sequence in every run. */
export const seeded = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};
