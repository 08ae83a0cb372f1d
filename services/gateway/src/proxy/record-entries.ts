import { fail, isStemmaError } from '@stemma/errors';
import type { Author, CallStatus } from '@stemma/events';
import {
  beginningOf,
  callScopeOf,
  decoded,
  decodedLimit,
  endExchange,
  readExchangeEnd,
  readExchangeStart,
  startExchange,
} from '@stemma/exchanges';
import { isAccessDenied, openRetry, type Home } from '@stemma/home';
import { defined, inOrderByKey } from '@stemma/values';
import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEntryFiles, type EntryFiles } from './entry-files.ts';
import {
  decodeEntry,
  type CallBranch,
  type EndedEntry,
  type EntryRef,
  type ReadEntry,
  type StartedEntry,
} from './entry.ts';
import type { RecordedEntry, SteeredEntry } from './call-sink.ts';
import { openSharedBudget } from './shared-budget.ts';

/** Who records what goes through the proxy. */
const BY: Author = { recorder: 'proxy' };

/** Bytes of entries that are read and recorded at a time: some become many times as many when they are read. */
const AT_A_TIME = 64 * 1024 * 1024;
/** Of which each takes at least so many: 64 at most. */
const LEAST = AT_A_TIME / 64;

/** Calls without an end of which it is remembered where they are recorded. */
const MOST_OPEN = 20_000;

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
  steer(entry: StartedEntry, body: Uint8Array, gone: AbortSignal): Promise<SteeredEntry>;
  close(): void;
};

/** Milliseconds that a steered call waits until it is recorded: what is away then is waited for behind it. */
const DEADLINE = 3_000;

/** @param say hears that the log is waited for, and that it is back, and what is recorded elsewhere than it was asked */
export const openEntryRecorder = (home: Home, say: (sentence: string) => void): EntryRecorder => {
  const closing = new AbortController();
  // A gateway with wrong settings does not begin.
  const retry = openRetry(closing.signal, say, isAccessDenied);
  /** Where calls are recorded whose end is to come. One that is forgotten says itself, with its end, where its beginning is. */
  const branches = new LRUCache<string, Promise<Started>>({ max: MOST_OPEN });
  /** Steered calls that are being recorded. */
  const starting = new Map<string, Promise<unknown>>();
  const share = openSharedBudget(AT_A_TIME);
  const files = openEntryFiles();
  const inOrder = inOrderByKey();
  /** Names of places are the clients': they take no memory for ever. */
  const said = new LRUCache<string, true>({ max: MOST_SAID });
  const sayOnce = (given: string | null): void => {
    const warning = given && home.privacy.redactText(given);
    if (warning === null || said.has(warning)) return;
    said.set(warning, true);
    say(warning);
  };
  let begin: Promise<unknown> = Promise.resolve();
  /** Reads what a call says, and returns what records it. */
  const readStart = async (
    entry: StartedEntry,
    body: Uint8Array,
    ended?: ReadEntry,
  ): Promise<() => Promise<Started>> => {
    const { id, place, method, path, origin, contentType, sentAt, coding, whole, unkept, unsteered } = entry;
    const target: typeof home =
      unsteered === undefined
        ? home
        : {
            ...home,
            calls: {
              ...home.calls,
              recordRequest: (call) =>
                home.calls.recordRequest({ ...call, facts: { ...call.facts, unsteered } }),
            },
          };
    const wire = { form: 'wire', method, path, origin, contentType, coding } as const;
    const request = { ...wire, body: whole ? body : (unkept ?? null) };
    const exchange = { id, by: BY, scope: place, request, sentAt };
    const end = ended?.entry.kind === 'ended' ? await endOf(ended.entry, ended.body) : undefined;
    const read = { ...(await readExchangeStart(exchange)), ...defined({ end }) };
    return async () => {
      // While the log is away, calls of one conversation keep their order.
      const { branch, isEnded, warning } = await inOrder(beginningOf(place, read), () =>
        startExchange(target, exchange, read, (act) => retry.run(act)),
      );
      sayOnce(warning);
      const where = { history: branch.history, branchId: branch.branchId };
      if (end !== undefined && !isEnded) await retry.run(() => endExchange(home, { id, by: BY }, end, where));
      return {
        where,
        isEnded: isEnded || end !== undefined,
        ...defined({ status: end?.status }),
      };
    };
  };
  const end = async (entry: EndedEntry, body: Uint8Array): Promise<Started> => {
    const started = await branches.get(entry.id);
    const where = entry.branch ?? started?.where;
    branches.delete(entry.id);
    await starting.get(entry.id);
    starting.delete(entry.id);
    if (where === undefined) throw fail('E_CALL_NOT_FOUND', `nothing is known of how ${entry.id} began`);
    // A process that was killed may have recorded both, and forgotten neither.
    const end = await endOf(entry, body);
    const ended = { where, isEnded: true, status: end.status } as const;
    if (started?.isEnded === true) return ended;
    await retry.run(() => endExchange(home, { id: entry.id, by: BY }, end, where));
    return ended;
  };
  const steer = async (
    { id, place, method, path, origin, contentType, sentAt, coding }: StartedEntry,
    body: Uint8Array,
    gone: AbortSignal,
  ): Promise<SteeredEntry> => {
    const request = { form: 'wire', method, path, origin, contentType, coding, body } as const;
    const { api, messages, model, parameters, tools, sent } = await readExchangeStart({
      id,
      by: BY,
      scope: place,
      request,
      sentAt,
    });
    if (api === 'other') return { kind: 'unsteered', reason: 'no reader understands the request' };
    const { within, warning } = await inTime(callScopeOf(home, place, BY));
    sayOnce(warning);
    const outcome = await home.steering.call(
      {
        id,
        by: BY,
        ...defined({ within }),
        steer: place?.steer === true,
        api,
        said: { model, parameters, tools, messages, sent: sent ?? null },
        body,
        plain: await decoded(body, coding),
      },
      gone,
      (act) => retry.run(act),
    );
    if (outcome.kind !== 'sent') return outcome;
    const { branch, body: changed, recorded } = outcome;
    starting.set(id, recorded);
    const isRecorded = await Promise.race([
      recorded.then(
        () => true,
        () => false,
      ),
      sleep(DEADLINE, false),
    ]);
    return { kind: 'sent', branch, body: changed, isRecorded };
  };
  /** @returns what records it */
  const prepare = async (
    { entry, body }: ReadEntry,
    left: boolean,
    ended?: ReadEntry,
  ): Promise<() => Promise<Started>> => {
    if (entry.kind === 'ended') return () => end(entry, body);
    if (entry.kind === 'done') throw fail('E_INTERNAL', 'an entry that is done is not recorded');
    const start = await readStart(entry, body, ended);
    return async () => {
      const lost = left ? retry.run(() => home.steering.lose(entry.id)) : undefined;
      const started = lost === undefined ? start() : lost.then(start);
      // Nobody asks for it any more.
      if (ended === undefined) branches.set(entry.id, started);
      return started;
    };
  };
  /**
   * Entries are read one after the other, so that what takes longer to read is not overtaken; the next one is read when this one
   * has its share of the memory.
   */
  const record = (ref: EntryRef, left: boolean, endRef?: EntryRef): Promise<Started> => {
    const begun = begin.then(async () => {
      const read = await readEntry(ref, files);
      const end = endRef === undefined ? undefined : await readEntry(endRef, files);
      const giveBack = await share(weightOf(read) + (end === undefined ? 0 : weightOf(end)));
      const run = await prepare(read, left, end).catch((error: unknown) => (): never => {
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
    steer: async (entry, body, gone) => {
      try {
        return await steer(entry, body, gone);
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

/** Where a call is recorded, and whether its end is, too. */
type Started = {
  readonly where: CallBranch;
  readonly isEnded: boolean;
  readonly status?: CallStatus;
};

const endOf = (entry: EndedEntry, body: Uint8Array): ReturnType<typeof readExchangeEnd> => {
  const { httpStatus, contentType, retryAfter, coding, whole, unkept } = entry;
  const kept = whole ? body : (unkept ?? null);
  const wire = { form: 'wire', contentType, retryAfter, coding, body: kept } as const;
  const response = httpStatus === null ? null : { ...wire, httpStatus };
  return readExchangeEnd(entry, { ...entry, response });
};

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const attempt = async <T>(act: () => Promise<T>): Promise<T> => act();

/** What a body takes when its content coding is undone. */
const weightOf = ({ entry, body }: ReadEntry): number =>
  'coding' in entry && entry.coding !== null ? decodedLimit(body.length) : Math.max(LEAST, body.length);

/** @throws E_CALL_NOT_STEERED if it takes too long */
const inTime = async <T>(work: Promise<T>): Promise<T> => {
  const done = new AbortController();
  try {
    return await Promise.race([
      work,
      sleep(DEADLINE, undefined, { signal: done.signal }).then((): never => {
        throw fail('E_CALL_NOT_STEERED', 'the log does not answer');
      }),
    ]);
  } finally {
    done.abort();
  }
};

const readEntry = async (ref: EntryRef, files: EntryFiles): Promise<ReadEntry> => {
  const bytes = 'bytes' in ref ? viewOf(ref.bytes) : await files.read(ref);
  const read = decodeEntry(bytes, 0);
  if (read === undefined) throw fail('E_INPUT_SHAPE', 'a call that waits to be recorded is cut off');
  return read;
};

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
