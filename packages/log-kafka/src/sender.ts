import type { Entry, EntryOffset } from '@stemma/log';
import type { KafkaClient } from './protocol/client.ts';

/** What one send takes before compression: more than one record only below it. */
const MAX_SEND_BYTES = 900 * 1024;

type Append = {
  readonly entries: readonly Entry[];
  readonly placed: EntryOffset[];
  readonly resolve: (placed: readonly EntryOffset[]) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Appends to one partition, in the order of the calls: one send is under way at a time, and all that waits goes into the
 * next one as far as there is room. Several at once would change places, and every such change makes a stale frame.
 */
export const openSender = (
  client: KafkaClient,
  partition: number,
  written: (end: number) => void,
): ((entries: readonly Entry[]) => Promise<readonly EntryOffset[]>) => {
  const queue: Append[] = [];
  let running = false;

  const run = async (): Promise<void> => {
    running = true;
    // What is appended in the same turn goes into the same send.
    await Promise.resolve();
    while (queue.length > 0) {
      const batch = nextBatch(queue);
      try {
        const messages = batch.map(([, { key, bytes }]) => ({ key, value: asBuffer(bytes) }));
        const base = messages.length === 0 ? 0 : await client.produce(partition, messages);
        for (const [i, [append]] of batch.entries())
          append.placed.push({ offset: base + i, next: base + i + 1 });
        written(base + batch.length);
      } catch (error) {
        for (const append of new Set(batch.map(([append]) => append))) {
          queue.splice(queue.indexOf(append), 1);
          append.reject(append.placed.length === 0 ? error : withoutPromise(error));
        }
      }
      while (queue[0] && queue[0].placed.length === queue[0].entries.length) {
        const [done] = queue.splice(0, 1) as [Append];
        done.resolve(done.placed);
      }
    }
    running = false;
  };

  return (entries) =>
    new Promise((resolve, reject) => {
      queue.push({ entries, placed: [], resolve, reject });
      if (!running) void run();
    });
};

/** Entries from the front of the queue, as many as one send takes, one at least. */
const nextBatch = (queue: readonly Append[]): readonly (readonly [Append, Entry])[] => {
  const batch: (readonly [Append, Entry])[] = [];
  let bytes = 0;
  for (const append of queue)
    for (const entry of append.entries.slice(append.placed.length)) {
      bytes += entry.bytes.length + entry.key.length + 32;
      if (batch.length > 0 && bytes > MAX_SEND_BYTES) return batch;
      batch.push([append, entry]);
    }
  return batch;
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A part was written already: that nothing was may not be said. */
const withoutPromise = (cause: unknown): Error =>
  new Error(cause instanceof Error ? cause.message : 'the send failed', { cause });
