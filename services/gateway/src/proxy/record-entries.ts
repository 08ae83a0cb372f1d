import { fail, isStemmaError } from '@stemma/errors';
import { decodedLimit } from '@stemma/exchanges';
import { isAccessDenied, openRetry, type CallChange, type Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { LRUCache } from 'lru-cache';
import type { RecordedEntry, SteeredEntry } from './call-sink.ts';
import { openEntryFiles, type EntryFiles } from './entry-files.ts';
import { EntryRecording } from './entry-recording.ts';
import { decodeEntry, type EntryRef, type ReadEntry, type StartedEntry } from './entry.ts';
import { openSharedBudget } from './shared-budget.ts';
import { StartedCalls, type StartedCall } from './started-calls.ts';
import { steerEntry } from './steer-entry.ts';

/** Bytes of entries that are read and recorded at a time: some become many times as many when they are read. */
const AT_A_TIME = 64 * 1024 * 1024;
/** Of which each takes at least so many: 64 at most. */
const LEAST = AT_A_TIME / 64;

/** So many warnings are remembered, so as to say each once. */
const MOST_SAID = 1_000;

/** Records entries of the journal in a home. A log that is away is waited for; what cannot be recorded is refused. */
export type EntryRecorder = {
  /**
   * @param left it is from a process that has ended
   * @param end the end of the call whose beginning `ref` has: one command records both
   * @returns undefined if this was closed before: the entries stay where they are
   */
  record(ref: EntryRef, left?: boolean, end?: EntryRef): Promise<RecordedEntry | undefined>;
  /** Puts what observers changed into a call, and holds it where they say so. @param gone aborts when the client is gone */
  steer(entry: StartedEntry, body: Uint8Array, gone: AbortSignal, change?: CallChange): Promise<SteeredEntry>;
  close(): void;
};

/** @param say hears that the log is waited for, and that it is back, and what is recorded elsewhere than it was asked */
export const openEntryRecorder = (home: Home, say: (sentence: string) => void): EntryRecorder => {
  const closing = new AbortController();
  // A gateway with wrong settings does not begin.
  const retry = openRetry(closing.signal, say, isAccessDenied);
  const options = { home, retry, calls: new StartedCalls(), sayOnce: openSayOnce(home, say) };
  const recording = new EntryRecording(options);
  const share = openSharedBudget(AT_A_TIME);
  const files = openEntryFiles();
  let begin: Promise<unknown> = Promise.resolve();
  /**
   * Entries are read one after the other, so that what takes longer to read is not overtaken; the next one is read when this one
   * has its share of the memory.
   */
  const record = (ref: EntryRef, left: boolean, endRef?: EntryRef): Promise<StartedCall> => {
    const begun = begin.then(async () => {
      const read = await readEntry(ref, files);
      const end = endRef === undefined ? undefined : await readEntry(endRef, files);
      const giveBack = await share(weightOf(read) + (end === undefined ? 0 : weightOf(end)));
      const run = await recording.prepare(read, left, end).catch((error: unknown) => (): never => {
        throw error;
      });
      const recorded = attempt(run);
      return { recorded: recorded.finally(giveBack) };
    });
    begin = begun.catch(() => undefined);
    return begun.then(({ recorded }) => recorded);
  };
  return {
    record: async (ref, left = false, end) => {
      try {
        const { where, status } = await record(ref, left, end);
        return { branch: where, ...defined({ status }) };
      } catch (error) {
        if (closing.signal.aborted) return undefined;
        if (left && isGone(error)) return { settledElsewhere: true };
        if (isStemmaError(error))
          return { refused: { code: error.code, message: home.privacy.redactText(error.message) } };
        return { refused: { code: 'E_INTERNAL', message: String(error) } };
      }
    },
    steer: async (entry, body, gone, change) => {
      try {
        return await steerEntry(options, entry, body, gone, change);
      } catch (error) {
        return { kind: 'unsteered', reason: error instanceof Error ? error.message : String(error) };
      }
    },
    close: () => {
      closing.abort();
      files.close();
    },
  };
};

/** Says a warning without secrets, and once. */
const openSayOnce = (home: Home, say: (sentence: string) => void): ((warning: string | null) => void) => {
  /** Names of places are the clients': they take no memory for ever. */
  const said = new LRUCache<string, true>({ max: MOST_SAID });
  return (given) => {
    const warning = given && home.privacy.redactText(given);
    if (warning === null || said.has(warning)) return;
    said.set(warning, true);
    say(warning);
  };
};

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const attempt = async <T>(act: () => Promise<T>): Promise<T> => act();

/** What a body takes when its content coding is undone. */
const weightOf = ({ entry, body }: ReadEntry): number =>
  'coding' in entry && entry.coding !== null ? decodedLimit(body.length) : Math.max(LEAST, body.length);

const readEntry = async (ref: EntryRef, files: EntryFiles): Promise<ReadEntry> => {
  const bytes = 'bytes' in ref ? viewOf(ref.bytes) : await files.read(ref);
  const read = decodeEntry(bytes, 0);
  if (read === undefined) throw fail('E_INPUT_SHAPE', 'a call that waits to be recorded is cut off');
  return read;
};

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
