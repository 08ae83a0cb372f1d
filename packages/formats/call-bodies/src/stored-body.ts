import { canonicalJson, type WideJson } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { readBody, type BodySource, type StoredBody } from './read-body.ts';

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

/** Which body of an event that has two of them. */
type WhichBody = 'request' | 'response';

/** The body that an event of a frame has; undefined if it has none. @param events all of the frame */
const storedBody = (
  events: readonly HistoryEvent[],
  index: number,
  which: WhichBody,
): StoredBody | undefined => {
  const event = events[index];
  if (event?.type === 'ProviderCallRecorded') {
    const { [which]: body, payload } = event;
    return body === null ? undefined : { body, own: ownOf(payload, `data_${which}`), companion: () => NONE };
  }
  if (event?.type === 'CallStarted' && event.request !== null)
    return { body: event.request, own: ownOf(event.payload), companion: () => requestCompanion(events) };
  if (event?.type === 'CallSteered' && event.request !== null)
    return { body: event.request, own: ownOf(event.payload), companion: () => NONE };
  if (event?.type === 'CallFinished' && event.response !== null) {
    const answer = event.payload['data_answer'] as WideJson | undefined;
    return { body: event.response, own: ownOf(event.payload), companion: () => responseCompanion(answer) };
  }
  return undefined;
};

const ownOf = (payload: { readonly [name: string]: unknown }, name = 'data_own'): string | null => {
  const own = payload[name];
  return typeof own === 'string' ? own : null;
};

/** The frames of one history. */
export type FrameSource = {
  /** The events of a frame, contents in place. */
  readonly events: (seq: number) => Promise<readonly HistoryEvent[]>;
  /** The bytes of frames. */
  readonly bytes: (seqs: readonly number[]) => Promise<readonly Uint8Array[]>;
};

/** The bodies in the frames of a history. */
export const bodySource = ({ events, bytes }: FrameSource, which: WhichBody = 'request'): BodySource => ({
  body: async ({ seq, index }) => {
    const stored = storedBody(await events(seq), index, which);
    if (stored !== undefined) return stored;
    throw fail('E_CALL_NOT_FOUND', `event ${index} of frame ${seq} has no recorded body`, { seq, index });
  },
  frames: bytes,
});

/**
 * The bytes of the body that an event has.
 *
 * @param known bodies that the caller has at hand
 * @param which of a call without messages, whose event has both; by default the request
 * @throws E_CALL_NOT_FOUND if the event has no body, E_CALL_BODY_DAMAGED, what the source throws
 */
export const readBodyAt = async (
  location: EventRef,
  frames: FrameSource,
  { known, which }: { readonly known?: BodySource['known']; readonly which?: WhichBody } = {},
): Promise<Uint8Array> => {
  const source = { ...bodySource(frames, which), ...(known !== undefined && { known }) };
  return readBody(await source.body(location), source);
};
