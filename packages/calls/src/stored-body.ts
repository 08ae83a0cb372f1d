import { canonicalJson, type WideJson } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { readBody, type StoredBody } from './body-in-pieces.ts';

const NONE = new Uint8Array();

/** What a request shares with its frame: the contents of the nodes that the frame inserts. */
export const requestCompanion = (events: readonly HistoryEvent[]): Uint8Array => {
  const texts = events.flatMap((event) =>
    event.type === 'NodeInserted' && event.node['content'] !== undefined
      ? [canonicalJson(event.node['content'] as WideJson)]
      : [],
  );
  return texts.length === 0 ? NONE : Buffer.from(texts.join(''));
};

/** What a response shares with its event: the answer. */
export const responseCompanion = (answer: WideJson | null | undefined): Uint8Array =>
  answer === null || answer === undefined ? NONE : Buffer.from(canonicalJson(answer));

/** The body that an event of a frame has; undefined if it has none. @param events all of the frame */
const storedBody = (events: readonly HistoryEvent[], index: number): StoredBody | undefined => {
  const event = events[index];
  if (event?.type === 'CallStarted' && event.request !== null)
    return { body: event.request, own: ownOf(event.payload), companion: () => requestCompanion(events) };
  if (event?.type === 'CallFinished' && event.response !== null) {
    const answer = event.payload['data_answer'] as WideJson | undefined;
    return { body: event.response, own: ownOf(event.payload), companion: () => responseCompanion(answer) };
  }
  return undefined;
};

const ownOf = (payload: { readonly [name: string]: unknown }): string | null => {
  const own = payload['data_own'];
  return typeof own === 'string' ? own : null;
};

/**
 * The bytes of the body that an event has.
 *
 * @param eventsOf the events of a frame of the history
 * @throws E_CALL_NOT_FOUND if the event has no body, E_CALL_BODY_DAMAGED, what `eventsOf` throws
 */
export const readBodyAt = async (
  location: EventRef,
  eventsOf: (seq: number) => Promise<readonly HistoryEvent[]>,
): Promise<Uint8Array> => {
  const load = async ({ seq, index }: EventRef): Promise<StoredBody> => {
    const stored = storedBody(await eventsOf(seq), index);
    if (stored !== undefined) return stored;
    throw fail('E_CALL_NOT_FOUND', `event ${index} of frame ${seq} has no recorded body`, { seq, index });
  };
  return readBody(await load(location), load);
};
