import type { HistoryEvent } from '@stemma/events';
import type { Cause } from '@stemma/history';
import type { Projector } from '@stemma/projector';
import { listActs, type Link } from '@stemma/read-models';
import type { BreakCause } from './cache-types.ts';
import { eventCause } from './event-cause.ts';
import type { EventPlace, Frames } from './origin.ts';

/** The first message of the old thread that the new one does not have there, and the one it has instead. */
export type Divergence = {
  readonly old: string;
  /** Undefined where the new thread ends. */
  readonly fresh: string | undefined;
  /** Whether the old message is anywhere in the new thread, and the new one in the old thread. */
  readonly oldStays: boolean;
  readonly freshWas: boolean;
};

/** Frames on a chain: behind `after`, up to `until`. */
export type Stretch = { readonly chain: readonly Link[]; readonly after: number; readonly until: number };

type Found = EventPlace & { readonly cause: Cause };

/** Tells why two threads part where they part: by what the frames between them did to the node in question. */
export const breakCause = async (
  projector: Projector,
  frames: Frames,
  history: string,
  stretch: Stretch,
  { old, fresh, oldStays, freshWas }: Divergence,
): Promise<BreakCause> => {
  const events = await eventsBetween(projector, frames, history, stretch);
  const answer = async (
    node: string,
    what: BreakCause['what'],
    found: Found | undefined,
  ): Promise<BreakCause> => {
    const brought =
      found?.cause.kind === 'import' || (found?.cause.kind === 'mutation' && found.cause.op === 'insert');
    return {
      node,
      what,
      cause: found?.cause ?? null,
      origin: found === undefined ? null : await frames.describe(found),
      entered: brought ? null : await frames.describe(await frames.entered(stretch.chain, node)),
    };
  };
  if (old === fresh) return answer(old, 'changed', lastOf(events, old));
  if (!oldStays) return answer(old, 'left', lastOf(events, old) ?? sealed(events));
  if (fresh !== undefined && !freshWas)
    return answer(fresh, 'entered', lastOf(events, fresh) ?? carried(events));
  const moved = fresh === undefined ? undefined : lastOf(events, fresh);
  if (fresh !== undefined && moved !== undefined) return answer(fresh, 'moved', moved);
  return answer(old, 'moved', lastOf(events, old) ?? carried(events));
};

type Placed = EventPlace & { readonly event: HistoryEvent };

const eventsBetween = async (
  projector: Projector,
  frames: Frames,
  history: string,
  { chain, after, until }: Stretch,
): Promise<readonly Placed[]> => {
  const limits = new Map(chain.map(({ strand, limit }) => [strand, limit]));
  const acts = projector.read((rows) => listActs(rows, history, { from: after + 1, limit: until - after }));
  const events: Placed[] = [];
  for (const { seq, strand } of acts) {
    if (seq > until || seq > (limits.get(strand) ?? -1)) continue;
    (await frames.eventsOf(seq)).forEach((event, index) => events.push({ seq, index, event }));
  }
  return events;
};

const lastOf = (events: readonly Placed[], id: string): Found | undefined => {
  for (const { seq, index, event } of events.toReversed()) {
    const cause = eventCause(event, id);
    if (cause !== null) return { seq, index, cause };
  }
  return undefined;
};

/** Where no event names a node, its container was moved and it went along. */
const carried = (events: readonly Placed[]): Found | undefined => {
  const found = events.findLast(({ event }) => event.type === 'NodeMoved');
  if (found?.event.type !== 'NodeMoved') return undefined;
  const { seq, index, event } = found;
  return { seq, index, cause: { kind: 'mutation', op: 'carry', by: event.id } };
};

/** A thread of the newest turn's pre-context only (`thread: "pre"`) loses what it had when a new turn is sealed. */
const sealed = (events: readonly Placed[]): Found | undefined => {
  const found = events.findLast(({ event }) => event.type === 'TurnSealed');
  if (found?.event.type !== 'TurnSealed') return carried(events);
  const { seq, index, event } = found;
  return { seq, index, cause: { kind: 'sealing', turn: event.turn.id } };
};
