import { checkpointAtStart, openMemoryLog, partitionOf, type EventLog } from '@stemma/log';
import { expect, it } from 'vitest';
import { findAltered } from '../src/find-altered.ts';

/** A history of each of two partitions. */
const HISTORIES = [0, 1].map(
  (partition) => ['h', 'i', 'j', 'k'].find((id) => partitionOf(id, 2) === partition) ?? '',
);

/** Two partitions, whose sixth record each is damaged though the rows know of no damage; each read takes 100 ms. */
const alteredLog = async () => {
  const memory = await openMemoryLog({ partitions: 2 });
  for (const partition of [0, 1])
    while ((await memory.end(partition)) < 6)
      await memory.append(partition, [{ key: HISTORIES[partition] ?? '', bytes: Uint8Array.of(1) }]);
  let time = 0;
  const log: EventLog = {
    ...memory,
    read: async (partition, from) => {
      time += 100;
      const { records } = await memory.read(partition, from);
      return { records: records.slice(0, 1), next: from + 1 };
    },
  };
  const projection = {
    checkpoint: async (partition: number) => {
      const start = await checkpointAtStart(log, partition);
      const damage = [1, 2, 3, 4].map((offset) => ({
        offset,
        next: offset + 1,
        history: HISTORIES[partition] ?? '',
        seq: null,
        affectsWholePartition: false,
      }));
      return {
        ...start,
        cursor: { ...start.cursor, offset: 6 },
        state: { ...start.state, damage },
      };
    },
  };
  return { services: { log, projection }, now: () => time };
};

it('records that are damaged after they were read are found in all partitions', async () => {
  const { services, now } = await alteredLog();
  const { records, findings } = await findAltered(services, Infinity, now);
  expect(records).toEqual([
    { partition: 0, offset: 5, history: HISTORIES[0] },
    { partition: 1, offset: 5, history: HISTORIES[1] },
  ]);
  expect(findings).toEqual([]);
});

it('a foreign record is none that was damaged', async () => {
  const { services, now } = await alteredLog();
  const { log, projection } = services;
  const read: EventLog['read'] = async (partition, from) => {
    const { records, next } = await log.read(partition, from);
    return { records: records.map((each) => ({ ...each, key: HISTORIES[1 - partition] ?? '' })), next };
  };
  const found = await findAltered({ log: { ...log, read }, projection }, Infinity, now);
  expect(found.records).toEqual([]);
});

it('a log that takes too long is read for the given time in each partition, and the report says how far', async () => {
  const { services, now } = await alteredLog();
  const { findings } = await findAltered(services, 400, now);
  expect(findings.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    'note: partition 0 was read again up to offset 2 of 6: `stemma verify` reads all of it',
    'note: partition 1 was read again up to offset 2 of 6: `stemma verify` reads all of it',
  ]);
});
