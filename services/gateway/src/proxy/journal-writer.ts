import { encodeEntry, type EntryRef, type Waiting } from './entry.ts';
import {
  unwrittenOf,
  type JournalSegments,
  type JournalSegment,
  type Unwritten,
} from './journal-segments.ts';
import type { LeftFiles } from './left-over.ts';

/** Bytes after which entries are not written together with more. */
const TOGETHER = 1024 * 1024;

/** Writes what waits to be noted, and what is recorded, in the order in which both came. */
export class JournalWriter {
  readonly #segments: JournalSegments;
  readonly #left: LeftFiles;
  readonly #blankAfter: number;
  readonly #warn: (sentence: string) => void;
  /** What writes now, or did last. */
  #last: Promise<unknown> = Promise.resolve();
  /** Entries that wait until those before them are written. */
  #unwritten: Unwritten[] = [];
  /** Entries that were recorded meanwhile. */
  #recorded: Waiting[] = [];
  #blanking: NodeJS.Timeout | undefined;

  constructor(
    segments: JournalSegments,
    left: LeftFiles,
    blankAfter: number,
    warn: (sentence: string) => void,
  ) {
    this.#segments = segments;
    this.#left = left;
    this.#blankAfter = blankAfter;
    this.#warn = warn;
  }

  note(pieces: readonly Buffer[]): Promise<EntryRef> {
    return new Promise((written, failed) => {
      this.#unwritten.push(unwrittenOf(pieces, { isDone: false, written, failed }));
      this.#flushSoon();
    });
  }

  done(recorded: Waiting): void {
    this.#recorded.push(recorded);
    this.#flushSoon();
  }

  async close(): Promise<void> {
    clearTimeout(this.#blanking);
    await this.#last;
    await this.#segments.close();
  }

  readonly #inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  };

  #flushSoon(): void {
    if (this.#unwritten.length + this.#recorded.length === 1) void this.#inTurn(() => this.#flush());
  }

  /** Writes what waits, in few pieces: a write costs about as much for many entries as for one. */
  async #flush(): Promise<void> {
    const [entries, recorded] = [this.#unwritten, this.#recorded];
    [this.#unwritten, this.#recorded] = [[], []];
    const dones = await this.#forget(recorded);
    let [together, bytes]: [Unwritten[], number] = [[], 0];
    for (const entry of [...dones, ...entries]) {
      together.push(entry);
      bytes += entry.length;
      if (bytes < TOGETHER) continue;
      await this.#segments.write(together);
      [together, bytes] = [[], 0];
    }
    if (together.length > 0) await this.#segments.write(together);
  }

  /** Files in which nothing waits any more begin anew or go. @returns what the current file says of the other entries: they are recorded */
  async #forget(recorded: readonly Waiting[]): Promise<readonly Unwritten[]> {
    const files = Map.groupBy(recorded, ({ ref }) => ('file' in ref ? ref.file : null));
    const dones: Unwritten[] = [];
    for (const [file, gone] of files)
      try {
        if (file !== null) dones.push(...(await this.#forgetIn(file, gone)));
      } catch (error) {
        this.#failed(error);
      }
    return dones;
  }

  async #forgetIn(file: string, gone: readonly Waiting[]): Promise<readonly Unwritten[]> {
    const segment = this.#segments.get(file);
    if (segment === undefined) {
      await this.#left.recorded(file, gone.length);
      return [];
    }
    segment.waiting -= gone.length;
    if (segment.waiting > 0) {
      const dones = gone.map((each) => this.#doneOf(each, segment));
      // In the file of the entry: whoever finds its body overwritten finds there that it is recorded.
      if (this.#segments.isWritten(segment)) return dones;
      await this.#segments.write(dones, segment);
    } else await this.#segments.empty(segment);
    return [];
  }

  #doneOf({ id, kind, ref }: Waiting, segment: JournalSegment): Unwritten {
    const written = (): void => {
      if ('file' in ref) segment.finished.push(ref);
      this.#blanking ??= setTimeout(() => void this.#blank(), this.#blankAfter);
    };
    return unwrittenOf(encodeEntry({ kind: 'done', id, what: kind }), {
      ...{ isDone: true, written },
      failed: (error) => this.#failed(error),
    });
  }

  async #blank(): Promise<void> {
    this.#blanking = undefined;
    for (const segment of this.#segments.all())
      await this.#segments.blank(segment, this.#inTurn).catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    this.#warn(`the calls that wait cannot be noted: ${String(error)}`);
  }
}
