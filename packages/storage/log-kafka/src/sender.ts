import type { Entry, EntryOffset } from '@stemma/log';
import type { KafkaClient } from './protocol/client.ts';
import { encodeBatch, type EncodedBatch } from './protocol/encode-batch.ts';

/** What one send takes before compression: more than one record only below it. */
const MAX_SEND_BYTES = 900 * 1024;

type Append = {
  readonly entries: readonly Entry[];
  readonly placed: EntryOffset[];
  readonly resolve: (placed: readonly EntryOffset[]) => void;
  readonly reject: (error: unknown) => void;
};

/** An entry that waits, and the append that it is of. */
type Item = { readonly append: Append; readonly entry: Entry };

/** What the next send takes, while it is being encoded. */
type Batch = { readonly items: readonly Item[]; readonly encoded: Promise<EncodedBatch> };

/**
 * Appends to one partition, in the order of the calls: one send is under way at a time, and all that waits goes into the
 * next one as far as there is room. Several at once would change places, and every such change makes a stale frame. What
 * fills a send is encoded while the one before is under way.
 *
 * @param written is called with where the partition ends and begins now, before an append resolves
 */
export const openSender = (
  client: Pick<KafkaClient, 'produce'>,
  partition: number,
  written: (end: number, start: number) => void,
): ((entries: readonly Entry[]) => Promise<readonly EntryOffset[]>) => {
  let waiting: Item[] = [];
  let next: Batch | undefined;
  let running = false;

  const takeBatch = (): Batch => {
    const items = waiting.splice(0, fitting(waiting));
    const encoded = encodeBatch(
      items.map(({ entry: { key, bytes } }) => ({ key, value: bytes })),
      Date.now(),
    );
    // Whoever sends it meets the error.
    encoded.catch(() => undefined);
    return { items, encoded };
  };
  const encodeAhead = (): void => {
    if (next === undefined && fitting(waiting) < waiting.length) next = takeBatch();
  };

  /** Rejects the appends of which a part was to be sent, and takes out what else of them waits. */
  const rejectAll = (items: readonly Item[], error: unknown): void => {
    const failed = new Set(items.map(({ append }) => append));
    waiting = [...(next?.items ?? []), ...waiting].filter(({ append }) => !failed.has(append));
    next = undefined;
    for (const append of failed) append.reject(append.placed.length === 0 ? error : withoutPromise(error));
  };

  const run = async (): Promise<void> => {
    running = true;
    // What is appended in the same turn goes into the same send.
    await Promise.resolve();
    while (next !== undefined || waiting.length > 0) {
      const { items, encoded } = next ?? takeBatch();
      next = undefined;
      try {
        const batch = await encoded;
        const sending = client.produce(partition, batch);
        encodeAhead();
        const { base, start } = await sending;
        written(base + items.length, start);
        for (const [i, { append }] of items.entries()) {
          append.placed.push({ offset: base + i, next: base + i + 1 });
          if (append.placed.length === append.entries.length) append.resolve(append.placed);
        }
      } catch (error) {
        rejectAll(items, error);
      }
    }
    running = false;
  };

  return (entries) =>
    new Promise((resolve, reject) => {
      const append = { entries, placed: [], resolve, reject };
      for (const entry of entries) waiting.push({ append, entry });
      if (running) encodeAhead();
      else void run();
    });
};

/** How many from the front one send takes, one at least if there are any. */
const fitting = (items: readonly Item[]): number => {
  let bytes = 0;
  for (const [i, { entry }] of items.entries()) {
    bytes += entry.bytes.length + entry.key.length + 32;
    if (i > 0 && bytes > MAX_SEND_BYTES) return i;
  }
  return items.length;
};

/** A part was written already: that nothing was may not be said. */
const withoutPromise = (cause: unknown): Error =>
  new Error(cause instanceof Error ? cause.message : 'the send failed', { cause });
