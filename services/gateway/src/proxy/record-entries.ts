import { inOrderByKey } from '@stemma/command-handler';
import { fail, isStemmaError } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { historyId } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import { openRetry, type Home } from '@stemma/home';
import { leadingSystem } from '@stemma/importers';
import type { WideJson } from '@stemma/canonical';
import { apiOf, readAnswer, readRequest } from '@stemma/model-apis';
import { open } from 'node:fs/promises';
import { decoded } from './decoded.ts';
import {
  decodeEntry,
  type CallBranch,
  type EndedEntry,
  type AskedScope,
  type ReadEntry,
  type StartedEntry,
} from './entry.ts';
import type { EntryRef } from './journal.ts';
import type { RecordedEntry } from './open-proxy.ts';

/** Who records what goes through the proxy. */
const BY: Author = { recorder: 'proxy' };

/** Entries that are read and recorded at a time. */
const AT_A_TIME = 64;

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
  let running = 0;
  const queue: (() => void)[] = [];
  const inTurn = async <T>(act: () => Promise<T>): Promise<T> => {
    if (running >= AT_A_TIME) await new Promise<void>((resolve) => queue.push(resolve));
    running++;
    try {
      return await act();
    } finally {
      running--;
      queue.shift()?.();
    }
  };
  const inOrder = inOrderByKey();
  let reading: Promise<unknown> = Promise.resolve();
  const readInTurn = (ref: EntryRef): Promise<ReadEntry> => {
    const read = reading.then(() => readEntry(ref));
    reading = read.catch(() => undefined);
    return read;
  };
  const placeOf = async (place: AskedScope): Promise<Parameters<Home['recordRequest']>[0]['within']> => {
    if (place === null || 'run' in place) return place ?? undefined;
    const { name } = place;
    try {
      const branch = await home.find(name);
      const isMain = branch.branch === branch.history;
      return isMain && !name.includes(':') ? { history: branch.history } : { branch };
    } catch (error) {
      if (!isStemmaError(error, 'E_HISTORY_NOT_FOUND') || name.includes(':')) throw error;
      const history = historyId(name, '');
      const id = `start-${name}`;
      await home.submit({ id, history, branchId: 0, by: BY, steps: [{ op: 'start', name }] });
      return { history };
    }
  };

  const recordStart = async (
    { id, place }: StartedEntry,
    { api, request, said }: ReadStart,
  ): Promise<CallBranch> => {
    const within = await placeOf(place);
    const { branch } = await home.recordRequest({
      id,
      by: BY,
      messages: said.messages,
      facts: { api, model: said.model, parameters: said.parameters, tools: said.tools, request },
      ...(within === undefined ? {} : { within }),
    });
    return { history: branch.history, branchId: branch.branchId };
  };
  const recordEnd = async (entry: EndedEntry, body: Uint8Array, where: CallBranch): Promise<void> => {
    const api = apiOf(entry.method, entry.path);
    const { httpStatus, contentType, firstByteMs, durationMs } = entry;
    const answer =
      httpStatus === null || !entry.whole
        ? undefined
        : readAnswer(api, { status: httpStatus, contentType }, await decoded(body, entry.coding));
    const isCut = entry.status === 'answered' && answer !== undefined && !answer.complete;
    await home.finishCall(branchRefOf(where.history, where.branchId), {
      by: BY,
      attemptId: entry.id,
      status: isCut || (entry.status === 'answered' && answer?.error != null) ? 'failed' : entry.status,
      httpStatus,
      finishReason: answer?.finishReason?.slice(0, 512) ?? null,
      model: answer?.model?.slice(0, 512) ?? null,
      usage: answer?.usage ?? null,
      firstByteMs,
      durationMs,
      error: entry.error ?? answer?.error ?? null,
      answer: answer?.answer ?? null,
      response: httpStatus === null || !entry.whole ? null : new Uint8Array(body),
    });
  };

  const start = async (entry: StartedEntry, body: Uint8Array): Promise<CallBranch> => {
    const read = await readStart(entry, body);
    // While the log is away, calls of one conversation keep their order.
    const key = JSON.stringify([
      entry.place,
      read.said.messages.slice(0, leadingSystem(read.said.messages) + 1),
    ]);
    return inOrder(key, () => inTurn(() => retry.run(() => recordStart(entry, read)))).catch(
      (error: unknown) => {
        // A history that takes no call keeps none from being recorded; an erased one says that nothing of it may be kept.
        if (!isStemmaError(error) || error.code === 'E_HISTORY_ERASED' || !isNamed(entry.place)) throw error;
        return recordStart({ ...entry, place: { run: entry.place.name } }, read);
      },
    );
  };
  const end = async (entry: EndedEntry, body: Uint8Array): Promise<CallBranch> => {
    const where = entry.branch ?? (await branches.get(entry.id));
    branches.delete(entry.id);
    if (where === undefined) throw fail('E_CALL_NOT_FOUND', `nothing is known of how ${entry.id} began`);
    await inTurn(() => retry.run(() => recordEnd(entry, body, where)));
    return where;
  };
  const record = async (ref: EntryRef): Promise<CallBranch> => {
    const { entry, body } = await readInTurn(ref);
    if (entry.kind === 'ended') return end(entry, body);
    if (entry.kind === 'done') throw fail('E_INTERNAL', 'an entry that is done is not recorded');
    const branch = start(entry, body);
    branches.set(entry.id, branch);
    return branch;
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

const isNamed = (place: AskedScope): place is { readonly name: string } => place !== null && 'name' in place;

type CallFacts = Parameters<Home['recordRequest']>[0]['facts'];

/** What is known of a request. */
type ReadStart = {
  readonly api: CallFacts['api'];
  readonly request: Uint8Array | null;
  readonly said: Pick<CallFacts, 'model' | 'parameters' | 'tools'> & {
    readonly messages: readonly WideJson[];
  };
};

const NOTHING_SAID = { model: null, parameters: {}, tools: null, messages: [] } as const;

/** A request that no reader understands is recorded all the same, without messages. */
const readStart = async (entry: StartedEntry, body: Uint8Array): Promise<ReadStart> => {
  const request = entry.whole ? new Uint8Array(body) : null;
  if (request === null) return { api: 'other', request, said: NOTHING_SAID };
  const api = apiOf(entry.method, entry.path);
  const read = readRequest(api, await decoded(request, entry.coding));
  if (!read.ok) return { api: 'other', request, said: NOTHING_SAID };
  return { api, request, said: { ...read, model: read.model?.slice(0, 512) ?? null } };
};

const readEntry = async (ref: EntryRef): Promise<ReadEntry> => {
  const bytes = 'bytes' in ref ? Buffer.from(ref.bytes) : await readRange(ref);
  const read = decodeEntry(bytes, 0);
  if (read === undefined) throw fail('E_INPUT_SHAPE', 'a call that waits to be recorded is cut off');
  return read;
};

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
