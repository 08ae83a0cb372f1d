import { inOrderByKey } from '@stemma/command-handler';
import { fail, isStemmaError } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { beginningOf, decodedLimit, endExchange, readExchangeStart, startExchange } from '@stemma/exchanges';
import { openRetry, type Home } from '@stemma/home';
import { open } from 'node:fs/promises';
import { decodeEntry, type CallBranch, type EndedEntry, type ReadEntry, type StartedEntry } from './entry.ts';
import type { EntryRef } from './journal.ts';
import type { RecordedEntry } from './open-proxy.ts';
import { openSharedBudget } from './shared-budget.ts';

/** Who records what goes through the proxy. */
const BY: Author = { recorder: 'proxy' };

/** Bytes of entries that are read and recorded at a time: some become many times as many when they are read. */
const AT_A_TIME = 64 * 1024 * 1024;
/** Of which each takes at least so many: 64 at most. */
const LEAST = AT_A_TIME / 64;

/** Records entries of the journal in a home. A log that is away is waited for; what cannot be recorded is refused. */
export type EntryRecorder = {
  /** @returns undefined if this was closed before: the entry stays where it is */
  record(ref: EntryRef): Promise<RecordedEntry | undefined>;
  close(): void;
};

/** @param say hears that the log is waited for, and that it is back */
export const openEntryRecorder = (home: Home, say: (sentence: string) => void): EntryRecorder => {
  const closing = new AbortController();
  const retry = openRetry(closing.signal, say);
  /** Where calls are recorded whose end is to come. */
  const branches = new Map<string, Promise<CallBranch>>();
  const share = openSharedBudget(AT_A_TIME);
  const inOrder = inOrderByKey();
  let begin: Promise<unknown> = Promise.resolve();
  const start = async (entry: StartedEntry, body: Uint8Array): Promise<CallBranch> => {
    const { id, place, method, path, coding, whole } = entry;
    const request = { form: 'wire', method, path, coding, body: whole ? body : null } as const;
    const exchange = { id, by: BY, scope: place, request };
    const read = await readExchangeStart(exchange);
    // While the log is away, calls of one conversation keep their order.
    const { branch } = await inOrder(beginningOf(place, read), () =>
      startExchange(home, exchange, read, (act) => retry.run(act)),
    );
    return { history: branch.history, branchId: branch.branchId };
  };
  const end = async (entry: EndedEntry, body: Uint8Array): Promise<CallBranch> => {
    const where = entry.branch ?? (await branches.get(entry.id));
    branches.delete(entry.id);
    if (where === undefined) throw fail('E_CALL_NOT_FOUND', `nothing is known of how ${entry.id} began`);
    const { httpStatus, contentType, coding, whole } = entry;
    const wire = { form: 'wire', contentType, coding, body: whole ? body : null } as const;
    const response = httpStatus === null ? null : { ...wire, httpStatus };
    await retry.run(() =>
      endExchange(home, { id: entry.id, by: BY, request: entry }, { ...entry, response }, where),
    );
    return where;
  };
  const recordRead = ({ entry, body }: ReadEntry): Promise<CallBranch> => {
    if (entry.kind === 'ended') return end(entry, body);
    if (entry.kind === 'done') throw fail('E_INTERNAL', 'an entry that is done is not recorded');
    const branch = start(entry, body);
    branches.set(entry.id, branch);
    return branch;
  };
  /** Entries are read one after the other; the next one is read when this one has its share of the memory. */
  const record = (ref: EntryRef): Promise<CallBranch> => {
    const begun = begin.then(async () => {
      const read = await readEntry(ref);
      const giveBack = await share(weightOf(read));
      const recorded = attempt(() => recordRead(read));
      return { recorded: recorded.finally(giveBack) };
    });
    begin = begun.catch(() => undefined);
    return begun.then(({ recorded }) => recorded);
  };
  return {
    record: async (ref) => {
      try {
        return { branch: await record(ref) };
      } catch (error) {
        if (closing.signal.aborted) return undefined;
        if (isStemmaError(error)) return { refused: { code: error.code, message: error.message } };
        return { refused: { code: 'E_INTERNAL', message: String(error) } };
      }
    },
    close: () => closing.abort(),
  };
};

const attempt = async <T>(act: () => Promise<T>): Promise<T> => act();

/** What a body takes when its content coding is undone. */
const weightOf = ({ entry, body }: ReadEntry): number =>
  'coding' in entry && entry.coding !== null ? decodedLimit(body.length) : Math.max(LEAST, body.length);

const readEntry = async (ref: EntryRef): Promise<ReadEntry> => {
  const bytes = 'bytes' in ref ? viewOf(ref.bytes) : await readRange(ref);
  const read = decodeEntry(bytes, 0);
  if (read === undefined) throw fail('E_INPUT_SHAPE', 'a call that waits to be recorded is cut off');
  return read;
};

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);

const readRange = async ({ file, at, length }: Extract<EntryRef, { file: string }>): Promise<Buffer> => {
  const handle = await open(file);
  try {
    const bytes = Buffer.alloc(length);
    await handle.read(bytes, 0, length, at);
    return bytes;
  } finally {
    await handle.close();
  }
};
