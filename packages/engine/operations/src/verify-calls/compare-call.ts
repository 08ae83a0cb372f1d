import { readBodyAt } from '@stemma/call-bodies';
import { toHex } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { isBodyKept } from '@stemma/events';
import { comparableMessage, openRequestMessages, type RequestMessages } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import { hashOfMessage, type MessageHash } from '@stemma/queries';
import type { CallRow } from '@stemma/read-models';
import { withoutCoding } from './request-bytes.ts';

/** What the thread of a call says. */
export type ThreadOfCall = {
  readonly messages: readonly MessageHash[];
  /** So many of them are those of the thread that was compared before. */
  readonly shared: number;
  /** The frames that a message is from. */
  readonly framesOf: (message: number) => readonly number[];
};

export type Compared =
  | { readonly kind: 'equal' }
  | { readonly kind: 'differs'; readonly message: number; readonly sentence: string }
  | { readonly kind: 'not comparable'; readonly reason: string };

/** Compares the requests of the calls of a history with their threads, one after the other. */
export type CallComparison = {
  /** @throws E_CALL_BODY_DAMAGED, and what reading a frame throws */
  compare(call: CallRow, thread: ThreadOfCall): Promise<Compared>;
};

const notComparable = (reason: string): Compared => ({ kind: 'not comparable', reason });

export const openCallComparison = (projection: Projection, history: string): CallComparison => {
  const frames = projection.payloads.framesOf(history);
  let newest: { readonly at: EventRef; readonly bytes: Uint8Array } | undefined;
  const readers = new Map<string, RequestMessages<MessageHash>>();
  /** True if the last call of this API was found equal, so that what both sides share with it is. */
  let equal: string | null = null;

  const bytesOf = async ({ location, request }: CallRow): Promise<Uint8Array> => {
    const known = newest;
    const bytes = await readBodyAt(location, frames, {
      known: (at) => (known?.at.seq === at.seq && known.at.index === at.index ? known.bytes : undefined),
    });
    newest = { at: location, bytes };
    const { sha256 } = request as NonNullable<typeof request>;
    const event = (await frames.events(location.seq))[location.index];
    if (event?.type === 'CallStarted' && event.request?.sha256 === toHex(sha256)) return bytes;
    throw fail('E_CALL_BODY_DAMAGED', 'its row and its event have two hashes of the request');
  };
  const isRedacted = async (seqs: readonly number[]): Promise<boolean> => {
    for (const seq of seqs)
      if ((await frames.events(seq)).some(({ type }) => type === 'ContentRedacted')) return true;
    return false;
  };
  const isSteered = async ({ location: { seq, index } }: CallRow): Promise<boolean> => {
    const event = (await frames.events(seq))[index + 1];
    return event?.type === 'CallSteered' && event.changes.length > 0;
  };
  return {
    async compare(call, thread) {
      const { api, request } = call;
      const before = equal;
      equal = null;
      if (request === null || !isBodyKept(request))
        return notComparable('no bytes of the request are recorded');
      const bytes = await bytesOf(call);
      if (api === 'other') return notComparable('no reader understood the request');
      const reader =
        readers.get(api) ?? openRequestMessages(api, (message) => hashOfMessage(comparableMessage(message)));
      readers.set(api, reader);
      const read = reader.read(withoutCoding(bytes));
      if (!read.ok) return notComparable(`the request cannot be read (${read.code})`);
      const { messages } = thread;
      let same = before === api ? Math.min(read.shared, thread.shared) : 0;
      const most = Math.max(messages.length, read.messages.length);
      while (same < most && messages[same] === read.messages[same]) same++;
      if (same === most) {
        equal = api;
        return { kind: 'equal' };
      }
      if (await isSteered(call)) {
        // What observers inserted may stand behind results, and joins other messages in some APIs.
        if (api === 'openai.chat' && inAnyOrder(messages) === inAnyOrder(read.messages))
          return { kind: 'equal' };
        if (api !== 'openai.chat') return notComparable('observers changed it, and its API joins messages');
      }
      if (await isRedacted([call.location.seq, ...thread.framesOf(same)]))
        return notComparable('secrets were taken out of it');
      return {
        kind: 'differs',
        message: same,
        sentence: sentenceOf(same, messages.length, read.messages.length),
      };
    },
  };
};

const inAnyOrder = (messages: readonly MessageHash[]): string =>
  [...messages].sort((a, b) => (a < b ? -1 : 1)).join();

const sentenceOf = (message: number, thread: number, request: number): string => {
  if (message >= request)
    return `message ${message} of the thread is not in the request, which has ${request}`;
  if (message >= thread) return `message ${message} of the request is not in the thread, which has ${thread}`;
  return `message ${message} of the request says something else than that of the thread`;
};
