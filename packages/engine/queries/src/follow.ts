import { fail, isStemmaError } from '@stemma/errors';
import { branchAddressOf, FRAMES } from '@stemma/history-store';
import { openRecord, partitionOf, type Checkpoint, type EventLog } from '@stemma/log';
import { anySignal } from '@stemma/machine';
import { isClosed, type Projection } from '@stemma/projector';
import { authorOf, findFrameSummary, listFrameSummaries } from '@stemma/read-models';
import { millisecondsOf } from '@stemma/values';
import type { LoggedEvent } from './read-types.ts';

/** The accepted events of one frame. @throws E_SNAPSHOT_NOT_FOUND */
export const readFrameEvents = async (
  projection: Projection,
  history: string,
  seq: number,
): Promise<readonly LoggedEvent[]> => {
  const events = await projection.payloads.events(history, seq);
  const [frameSummary, branch] = await projection.read((view) => {
    const found = findFrameSummary(view, history, seq);
    return [found, branchAddressOf(view, history, found.branchId)] as const;
  });
  return events.map((event, index) => ({
    history,
    branch,
    branchId: frameSummary.branchId,
    seq,
    index,
    command: frameSummary.command,
    at: millisecondsOf(frameSummary.at),
    author: authorOf(frameSummary),
    event,
  }));
};

export type FollowOptions = {
  readonly signal: AbortSignal;
  readonly after?: string;
  readonly history?: string;
};

export type EventBatch = { readonly cursor: string; readonly events: readonly LoggedEvent[] };

/**
 * Yields new events of all histories, or of one, as they are accepted: after a cursor, or from now. The cursor names
 * the log and an offset in each of its partitions. Ends with the signal.
 *
 * @throws E_STREAM_GONE when the cursor is not of this log, or the log does not reach to it.
 */
export async function* followLog(
  log: EventLog,
  projection: Projection,
  options: FollowOptions,
): AsyncGenerator<EventBatch> {
  const { signal, history } = options;
  const offsets = options.after === undefined ? await logEnds(log) : await parseCursor(log, options.after);
  // Whoever reads the history now sees at least what lies before the cursor.
  if (history !== undefined) await projection.catchUp(partitionOf(history, log.partitions));
  yield { cursor: printCursor(log, offsets), events: [] };
  const going = (): boolean => !signal.aborted;
  while (going()) {
    const readTo: (Checkpoint | undefined)[] = [];
    for (const [partition, from] of offsets.entries()) {
      await projection.catchUp(partition);
      // What was appended since is not known to be accepted yet: it is looked at in the next round.
      const checkpoint = await projection.checkpoint(partition);
      readTo.push(checkpoint);
      const to = checkpoint?.cursor.offset ?? from;
      for await (const { events, next } of acceptedIn(log, projection, { partition, from, to }, history)) {
        offsets[partition] = next;
        if (events.length > 0) yield { cursor: printCursor(log, offsets), events };
        if (!going()) break;
      }
    }
    await waitForAny(log, readTo, signal);
  }
}

/**
 * The accepted events between a cursor (the beginning of the log, if none is given) and what is in the log now, in batches,
 * each with the cursor behind it. A history that was erased has none.
 *
 * @throws as {@link followLog}
 */
export async function* readAccepted(
  log: EventLog,
  projection: Projection,
  after: string | undefined,
): AsyncGenerator<EventBatch> {
  const offsets =
    after === undefined
      ? await Promise.all(Array.from({ length: log.partitions }, (_, partition) => log.start(partition)))
      : await parseCursor(log, after);
  for (const [partition, from] of offsets.entries()) {
    await projection.catchUp(partition);
    const to = (await projection.checkpoint(partition))?.cursor.offset ?? from;
    for await (const { events, next } of acceptedIn(log, projection, { partition, from, to })) {
      offsets[partition] = next;
      yield { cursor: printCursor(log, offsets), events };
    }
  }
}

/** As {@link followLog}, for one history from a frame on: first what there is, then what comes. */
export async function* followFrom(
  log: EventLog,
  projection: Projection,
  { history, from, signal }: FollowOptions & { readonly history: string; readonly from: number },
): AsyncGenerator<EventBatch> {
  const partition = partitionOf(history, log.partitions);
  const cursor = printCursor(log, await logEnds(log));
  for (let seq = from; !signal.aborted;) {
    await projection.catchUp(partition);
    const checkpoint = await projection.checkpoint(partition);
    const frameSummaries = await projection.read((view) =>
      listFrameSummaries(view, history, { from: seq, limit: 100 }),
    );
    for (const frameSummary of frameSummaries)
      yield { cursor, events: await readFrameEvents(projection, history, frameSummary.seq) };
    seq = (frameSummaries.at(-1)?.seq ?? seq - 1) + 1;
    if (frameSummaries.length > 0) continue;
    await waitBehind(log, partition, checkpoint, signal);
  }
}

type OffsetRange = { readonly partition: number; readonly from: number; readonly to: number };

/** What the rows took of the records of a stretch, some at a time, each with the offset behind them. */
async function* acceptedIn(
  log: EventLog,
  projection: Projection,
  { partition, from, to }: OffsetRange,
  only?: string,
): AsyncGenerator<{ readonly events: readonly LoggedEvent[]; readonly next: number }> {
  for (let at = from; at < to;) {
    const found = await acceptedBetween(log, projection, { partition, from: at, to }, only);
    at = found.next;
    yield found;
  }
}

/** What the rows took of the next records of a stretch: those whose frame lies where the rows say. */
const acceptedBetween = async (
  log: EventLog,
  projection: Projection,
  { partition, from, to }: OffsetRange,
  only: string | undefined,
): Promise<{ readonly events: readonly LoggedEvent[]; readonly next: number }> => {
  const { records } = await log.read(partition, from, { maxBytes: 64 * 1024 });
  const events: LoggedEvent[] = [];
  let next = from;
  for (const { offset, next: after, bytes, damaged } of records) {
    if (offset >= to) break;
    next = after;
    const envelope = damaged ? undefined : openRecord(bytes)?.envelope;
    if (envelope === undefined || (only !== undefined && envelope.history !== only)) continue;
    const { history, seq } = envelope;
    const taken = await projection.read((view) => view.get(FRAMES, [history, seq])?.[0] === offset);
    if (taken) events.push(...(await eventsOrNone(projection, { history, seq, partition })));
  }
  return { events, next: next === from ? to : next };
};

type FrameOf = { readonly history: string; readonly seq: number; readonly partition: number };

/**
 * The events of a frame; none of a history that was erased, or whose key is not here, or whose rows stop before the frame.
 *
 * @param again the rows were asked before, and may have begun anew between two questions
 */
const eventsOrNone = async (
  projection: Projection,
  frame: FrameOf,
  again = false,
): Promise<readonly LoggedEvent[]> => {
  const { history, seq, partition } = frame;
  try {
    return await readFrameEvents(projection, history, seq);
  } catch (error) {
    if (isStemmaError(error, 'E_HISTORY_ERASED') || isStemmaError(error, 'E_HISTORY_SEALED')) return [];
    if (!isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
    if (again) return [];
    await projection.catchUp(partition);
    return eventsOrNone(projection, frame, true);
  }
};

const logEnds = (log: EventLog): Promise<number[]> =>
  Promise.all(Array.from({ length: log.partitions }, (_, partition) => log.end(partition)));

const printCursor = (log: EventLog, offsets: readonly number[]): string => `${log.id}:${offsets.join(',')}`;

const parseCursor = async (log: EventLog, cursor: string): Promise<number[]> => {
  const ends = await logEnds(log);
  const [id, list = ''] = cursor.split(':');
  const offsets = list.split(',').map(Number);
  const known = id === log.id && offsets.length === ends.length;
  if (
    !known ||
    !offsets.every((offset, i) => Number.isSafeInteger(offset) && offset >= 0 && offset <= (ends[i] ?? -1))
  )
    throw fail(
      'E_STREAM_GONE',
      'the stream cannot resume at this cursor: it belongs to another log, or is after the end of this one',
    );
  for (const [partition, offset] of offsets.entries()) await checkRecordStart(log, partition, offset);
  return offsets;
};

/** @throws E_STREAM_GONE if no record begins at the place */
const checkRecordStart = async (log: EventLog, partition: number, offset: number): Promise<void> => {
  try {
    await log.read(partition, offset, { maxBytes: 1 });
  } catch (cause) {
    throw fail(
      'E_STREAM_GONE',
      `no record begins at ${partition}@${offset}${cause instanceof Error ? `: ${cause.message}` : ''}`,
    );
  }
};

/** Resolves when some partition has more than was read, or with the signal. */
const waitForAny = async (
  log: EventLog,
  readTo: readonly (Checkpoint | undefined)[],
  signal: AbortSignal,
): Promise<void> => {
  const done = new AbortController();
  const either = anySignal([signal, done.signal]);
  try {
    await Promise.race(readTo.map((checkpoint, partition) => waitBehind(log, partition, checkpoint, either)));
  } finally {
    done.abort();
  }
};

/** Milliseconds after which a partition that damage closes is looked at again. */
const LOOK_AGAIN = 1_000;

/**
 * Waits for records behind the checkpoint that the rows had before they were read: another reader may have moved it since,
 * and what came meanwhile would be waited for, and never read.
 */
const waitBehind = async (
  log: EventLog,
  partition: number,
  checkpoint: Checkpoint | undefined,
  signal: AbortSignal,
): Promise<void> => {
  if (!isClosed(checkpoint)) return log.wait(partition, checkpoint?.cursor.offset ?? 0, signal);
  // Records after the damage are there, but nobody may read them; the one that opens the partition may come before this wait.
  const either = anySignal([signal, AbortSignal.timeout(LOOK_AGAIN)]);
  return log.wait(partition, await log.end(partition), either);
};
