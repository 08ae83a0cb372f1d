import { bytesIn, joinBytes } from '@stemma/canonical';
import type { RecordedEntry } from './call-sink.ts';
import type { EntryRef } from './entry.ts';
import type { Noted } from './journal.ts';

/**
 * Bytes of entries that are kept in memory until they are recorded, beside the file that has them: about as many as the sink works on.
 */
const MOST_IN_MEMORY = 2 * 1024 * 1024;

/** The entries that are noted and not recorded yet: how many, since when, and how many of their bytes are in memory. */
export class SinkBacklog {
  #size = 0;
  #inMemory = 0;
  /** When each of those that wait for the sink was given to it, the oldest first. */
  readonly #since = new Set<{ readonly at: number; readonly size: number }>();
  #whenDrained: (() => void)[] = [];
  readonly #mostInMemory: number;

  constructor(mostInMemory = MOST_IN_MEMORY) {
    this.#mostInMemory = mostInMemory;
  }

  get size(): number {
    return this.#size;
  }

  /** For how many seconds the oldest entry has been waiting for the sink. */
  get seconds(): number {
    const [oldest] = this.#since;
    return oldest === undefined ? 0 : (performance.now() - oldest.at) / 1000;
  }

  add(): void {
    this.#size++;
  }

  /** Small entries go to the sink as they are; of the others, and of those for which it has no time, it reads the file. */
  refFor({ ref, bytes }: Noted): EntryRef {
    const size = bytesIn(bytes);
    return 'bytes' in ref || this.#inMemory + size > this.#mostInMemory ? ref : { bytes: joinBytes(bytes) };
  }

  /** @returns what the caller must call when the entries are recorded, of which one was added; it calls `done` */
  settling(
    refs: readonly EntryRef[],
    done: (outcome: RecordedEntry) => void,
  ): (outcome: RecordedEntry) => void {
    const size = refs.reduce((sum, ref) => sum + ('bytes' in ref ? ref.bytes.length : 0), 0);
    this.#inMemory += size;
    const began = { at: Math.round(performance.now()), size };
    this.#since.add(began);
    return (outcome) => {
      this.#since.delete(began);
      this.#size--;
      this.#inMemory -= began.size;
      done(outcome);
      if (this.#size > 0) return;
      for (const drained of this.#whenDrained) drained();
      this.#whenDrained = [];
    };
  }

  /** @returns how many entries still wait when all are recorded, or the time is over */
  async drained(milliseconds: number): Promise<number> {
    if (this.#size === 0) return 0;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), milliseconds);
    this.#whenDrained.push(() => resolve(undefined));
    await promise;
    clearTimeout(timer);
    return this.#size;
  }
}
