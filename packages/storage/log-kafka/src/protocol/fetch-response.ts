/** A broker's answer about one partition. */
export type FetchResponse = {
  readonly error: number;
  /** The offset after the last record that all in-sync replicas have; −1 with an error. */
  readonly end: number;
  /** The offset of the first record that the partition still has; −1 with an error. */
  readonly start: number;
  readonly batches: Buffer;
};

/**
 * Parses a fetch response (version 11) for one topic and leaves its record batches as bytes. Sizes in bytes:
 * throttle 4, error 2, session 4, [topic, [partition 4, error 2, high watermark 8, last stable 8, start 8,
 * [aborted 16], preferred replica 4, batches]].
 */
export const decodeFetch = (payload: Buffer): ReadonlyMap<number, FetchResponse> => {
  let at = 0;
  const int = (bytes: 2 | 4): number => payload.readIntBE((at += bytes) - bytes, bytes);
  const skip = (bytes: number): void => void (at += bytes);
  const long = (): number => int(4) * 2 ** 32 + (int(4) >>> 0);
  int(4);
  const failed = int(2);
  int(4);
  const partitions = new Map<number, FetchResponse>();
  for (let topics = int(4); topics > 0; topics--) {
    skip(int(2));
    for (let count = int(4); count > 0; count--) {
      const partition = int(4);
      const error = int(2) || failed;
      const end = long();
      skip(8);
      const start = long();
      skip(Math.max(int(4), 0) * 16);
      skip(4);
      const size = Math.max(int(4), 0);
      partitions.set(partition, { error, end, start, batches: payload.subarray(at, at + size) });
      skip(size);
    }
  }
  return partitions;
};
