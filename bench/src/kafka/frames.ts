import { openKafkaLog } from '@stemma/log-kafka';
import { openRecord, type Entry } from '@stemma/log';

/** Events a send of the way with one event a record. With 300 it is slower, and a broker takes no 2,000. */
export const SINGLES = 1000;

/** The frames of a log's one partition, without control frames and starts of histories. */
export const readFrames = async (brokers: readonly string[], prefix: string): Promise<readonly Entry[]> => {
  const log = await openKafkaLog({ brokers, prefix, create: false });
  const frames: Entry[] = [];
  for (let at = 0; ;) {
    const { records, next } = await log.read(0, at);
    if (records.length === 0) break;
    for (const { key, bytes } of records)
      if (key !== null && !key.startsWith('log:') && (openRecord(bytes)?.envelope.seq ?? 0) > 0)
        frames.push({ key, bytes });
    at = next;
  }
  await log.close();
  return frames;
};

/** As many bytes for each event of the frames, one event an entry. */
export const eventsOf = (frames: readonly Entry[], events: number): readonly Entry[] =>
  frames.flatMap(({ key, bytes }) => {
    const size = Math.ceil(bytes.length / events);
    return Array.from({ length: events }, (_, i) => ({
      key,
      bytes: bytes.subarray(i * size, (i + 1) * size),
    }));
  });

export const chunks = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
