import { fail } from '@stemma/errors';
import { partitionOf } from '../partition-of.ts';
import type { EventLog } from '../port.ts';
import { openLane, type Lane } from './lane.ts';
import type { Accepted, Intent, Writer, WriterOptions } from './types.ts';

/** The one writer for every log (record §3): decide, append, know the outcome, decide again or conflict. */
export const openWriter = <C>(log: EventLog, options: WriterOptions<C>): Writer<C> => {
  const lanes = new Map<number, Lane<C>>();
  let closed = false;
  const laneOf = (partition: number): Lane<C> => {
    const lane = lanes.get(partition) ?? openLane(log, partition, options);
    lanes.set(partition, lane);
    return lane;
  };
  return {
    write: (intent: Intent<C>) =>
      new Promise<Accepted>((resolve, reject) => {
        if (closed) reject(fail('E_LOG_CLOSED', 'the writer was closed'));
        else laneOf(partitionOf(intent.history, log.partitions)).push({ intent, resolve, reject, tries: 0 });
      }),
    close: async () => {
      closed = true;
      for (const lane of lanes.values()) await lane.idle();
    },
  };
};
