import { bytesIn, joinBytes } from '@stemma/canonical';
import { makeFolder } from '@stemma/machine';
import { join } from 'node:path';
import { encodeEntry, type EntryRef, type ProxyEntry, type Waiting } from './entry.ts';
import { JournalSegments } from './journal-segments.ts';
import { JournalWriter } from './journal-writer.ts';
import { openLeftFiles } from './left-over.ts';
import { unendedCallFiles } from './unended-call-files.ts';
import { forgetUnendedCalls, type UnendedCalls } from './unended-calls.ts';

/** One that was noted just now, and the entry itself: who records it at once need not read it. */
export type Noted = Waiting & { readonly bytes: readonly Uint8Array[] };

/**
 * Calls on their way into the log, in the order they were made. What was noted survives the end of the process; what is recorded is deleted with its
 * file, when all else in it is recorded too. Where something else waits longer, its bytes are overwritten.
 */
export type CallJournal = {
  /** Notes an entry. @returns undefined if there is no room, or it cannot be written: the call goes on unrecorded */
  append(
    entry: ProxyEntry & { readonly kind: 'started' | 'ended' },
    body: readonly Uint8Array[],
  ): Promise<Noted | undefined>;
  /** Keeps what the client of a call is given while it is under way; of a process that is killed, the next one records it. */
  readonly unendedCalls: UnendedCalls;
  /** The entry needs no more room. */
  done(waiting: Waiting): void;
  /** Bytes of entries that are not recorded yet. */
  readonly size: () => number;
  /** Resolves when everything is on the disk that was noted. */
  close(): Promise<void>;
};

export type JournalOptions = {
  readonly directory: string;
  /** The most bytes that wait. */
  readonly limit: number;
  /** True: entries stay in memory. */
  readonly inMemory: boolean;
  /** Milliseconds after which a body that is recorded is overwritten, if its file is still there; default 2,000. */
  readonly blankAfter?: number;
  readonly warn: (sentence: string) => void;
};

/** Most files are gone by then: each call in them is recorded. */
const BLANK_AFTER = 2_000;

/** An entry counts as so many bytes at least: to know of it takes a quarter of a KiB of memory, however small it is. */
const LEAST = 4 * 1024;

/** Opens the journal of this process, and reads what earlier ones left in the directory. */
export const openJournal = async (
  options: JournalOptions,
): Promise<{ readonly journal: CallJournal; readonly left: readonly Waiting[] }> => {
  const { directory, limit, inMemory, warn, blankAfter = BLANK_AFTER } = options;
  const folder = join(directory, 'calls');
  makeFolder(folder);
  const leftFiles = await openLeftFiles(folder, warn);
  const left = [...leftFiles.left];
  const writer = new JournalWriter(new JournalSegments(folder), leftFiles, blankAfter, warn);
  // What was in a file may be in one: rules of redaction take it out when it is recorded.
  for (const { call, noted } of leftFiles.cut)
    try {
      const { entry, body } = call;
      left.push({ kind: 'ended', id: entry.id, ref: await writer.note(encodeEntry(entry, body)) });
      await noted();
    } catch (error) {
      warn(`the end of a call that was cut cannot be noted: ${String(error)}`);
    }
  let size = left.reduce((sum, { ref }) => sum + lengthOf(ref), 0);
  let entries = left.length;
  const files = unendedCallFiles({ folder, warn, room: () => limit - size - files.bytes() });
  const journal: CallJournal = {
    unendedCalls: inMemory ? forgetUnendedCalls : files,
    size: () => size,
    append: async (entry, body) => {
      const length = bytesIn(body);
      if (Math.max(size + length, (entries + 1) * LEAST) > limit) return undefined;
      size += length;
      entries++;
      try {
        const bytes = encodeEntry(entry, body);
        const ref = inMemory ? { bytes: joinBytes(bytes) } : await writer.note(bytes);
        size += lengthOf(ref) - length;
        return { kind: entry.kind, id: entry.id, ref, bytes };
      } catch (error) {
        size -= length;
        entries--;
        warn(`a call cannot be noted: ${String(error)}`);
        return undefined;
      }
    },
    done: (waiting) => {
      size -= lengthOf(waiting.ref);
      entries--;
      if ('file' in waiting.ref) writer.done(waiting);
    },
    close: () => writer.close(),
  };
  return { journal, left };
};

const lengthOf = (ref: EntryRef): number => ('bytes' in ref ? ref.bytes.length : ref.length);
