import { fail } from '@stemma/errors';
import { FRAMES, lineageName } from '@stemma/history-store';
import { openRecord, partitionOf, type EventLog } from '@stemma/log';
import type { ServedRows } from '@stemma/projector';
import { authorOf, findAct, listActs } from '@stemma/read-models';
import type { LoggedEvent } from './read-types.ts';

/** The accepted events of one frame. @throws E_SNAPSHOT_NOT_FOUND */
export const frameEvents = async (
  projector: ServedRows,
  history: string,
  seq: number,
): Promise<readonly LoggedEvent[]> => {
  const events = await projector.payloads.events(history, seq);
  const [act, lineage] = await projector.read((view) => {
    const found = findAct(view, history, seq);
    return [found, lineageName(view, history, found.strand)] as const;
  });
  return events.map((event, index) => ({
    history,
    lineage,
    strand: act.strand,
    seq,
    index,
    command: act.command,
    at: Number(act.at / 1_000_000n),
    author: authorOf(act),
    event,
  }));
};

export type FollowOptions = {
  readonly signal: AbortSignal;
  readonly after?: string;
  readonly history?: string;
};

export type Followed = { readonly cursor: string; readonly events: readonly LoggedEvent[] };

/**
 * New events of all histories, or of one, as they are accepted: after a cursor, or from now. The cursor names the log and
 * a place in each of its partitions. Ends with the signal.
 *
 * @throws E_STREAM_GONE when the cursor is not of this log, or the log does not reach to it.
 */
export async function* followLog(
  log: EventLog,
  projector: ServedRows,
  options: FollowOptions,
): AsyncGenerator<Followed> {
  const { signal, history } = options;
  const places = options.after === undefined ? await endsOf(log) : await placesOf(log, options.after);
  yield { cursor: cursorOf(log, places), events: [] };
  const going = (): boolean => !signal.aborted;
  while (going()) {
    for (const [partition, from] of places.entries()) {
      await projector.catchUp(partition);
      // What was appended since is not known to be accepted yet: it is looked at in the next round.
      const known = (await projector.checkpoint(partition))?.cursor.offset ?? from;
      for (let at = from; at < known && going();) {
        const { events, next } = await acceptedBetween(
          log,
          projector,
          { partition, from: at, to: known },
          history,
        );
        at = places[partition] = next;
        if (events.length > 0) yield { cursor: cursorOf(log, places), events };
      }
    }
    await waitForAny(log, places, signal);
  }
}

/** As {@link followLog}, for one history from a frame on: first what there is, then what comes. */
export async function* followFrom(
  log: EventLog,
  projector: ServedRows,
  { history, from, signal }: FollowOptions & { readonly history: string; readonly from: number },
): AsyncGenerator<Followed> {
  const partition = partitionOf(history, log.partitions);
  const cursor = cursorOf(log, await endsOf(log));
  for (let seq = from; !signal.aborted;) {
    await projector.catchUp(partition);
    const acts = await projector.read((view) => listActs(view, history, { from: seq, limit: 100 }));
    for (const act of acts) yield { cursor, events: await frameEvents(projector, history, act.seq) };
    seq = (acts.at(-1)?.seq ?? seq - 1) + 1;
    if (acts.length > 0) continue;
    await log.wait(partition, (await projector.checkpoint(partition))?.cursor.offset ?? 0, signal);
  }
}

type Stretch = { readonly partition: number; readonly from: number; readonly to: number };

/** What the rows took of the next records of a stretch: those whose frame lies where the rows say. */
const acceptedBetween = async (
  log: EventLog,
  projector: ServedRows,
  { partition, from, to }: Stretch,
  only: string | undefined,
): Promise<{ readonly events: readonly LoggedEvent[]; readonly next: number }> => {
  const { records } = await log.read(partition, from, { maxBytes: 64 * 1024 });
  const events: LoggedEvent[] = [];
  let next = from;
  for (const { offset, next: behind, bytes, damaged } of records) {
    if (offset >= to) break;
    next = behind;
    const envelope = damaged ? undefined : openRecord(bytes)?.envelope;
    if (envelope === undefined || (only !== undefined && envelope.history !== only)) continue;
    const { history, seq } = envelope;
    const taken = await projector.read((view) => view.get(FRAMES, [history, seq])?.[0] === offset);
    if (taken) events.push(...(await frameEvents(projector, history, seq)));
  }
  return { events, next: next === from ? to : next };
};

const endsOf = (log: EventLog): Promise<number[]> =>
  Promise.all(Array.from({ length: log.partitions }, (_, partition) => log.end(partition)));

const cursorOf = (log: EventLog, places: readonly number[]): string => `${log.id}:${places.join(',')}`;

const placesOf = async (log: EventLog, cursor: string): Promise<number[]> => {
  const ends = await endsOf(log);
  const [id, list = ''] = cursor.split(':');
  const places = list.split(',').map(Number);
  const known = id === log.id && places.length === ends.length;
  if (
    !known ||
    !places.every((place, i) => Number.isSafeInteger(place) && place >= 0 && place <= (ends[i] ?? -1))
  )
    throw fail(
      'E_STREAM_GONE',
      'the stream cannot go on from there: the log is another, or does not reach so far',
    );
  for (const [partition, place] of places.entries()) await refuseBetween(log, partition, place);
  return places;
};

/** @throws E_STREAM_GONE if no record begins at the place */
const refuseBetween = async (log: EventLog, partition: number, place: number): Promise<void> => {
  try {
    await log.read(partition, place, { maxBytes: 1 });
  } catch (cause) {
    throw fail(
      'E_STREAM_GONE',
      `no record begins at ${partition}@${place}${cause instanceof Error ? `: ${cause.message}` : ''}`,
    );
  }
};

/** Resolves when some partition has more than was read, or with the signal. */
const waitForAny = async (log: EventLog, places: readonly number[], signal: AbortSignal): Promise<void> => {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  await Promise.race(places.map((place, partition) => log.wait(partition, place, either)));
  done.abort();
};
