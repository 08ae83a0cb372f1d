import { sha256, toHex } from '@stemma/canonical';
import { roleOf, type EventRef } from '@stemma/context-tree';
import { payloadIn } from '@stemma/history';
import type { ThreadSlice, ThreadStep } from '@stemma/history-store';
import { recordedMessages } from '@stemma/importers';
import type { Projection } from '@stemma/projector';

/** A message of a thread or of a request: what it is compared by, as a hash. */
export type MessageHash = string;

export const hashOfMessage = (comparable: string): MessageHash =>
  toHex(sha256(new TextEncoder().encode(comparable)).subarray(0, 16));

export type ThreadMessages = {
  /** The messages that the snapshot of a step shows; those before `shared` are those of the step before. */
  at(step: ThreadStep): Promise<{ readonly messages: readonly MessageHash[]; readonly shared: number }>;
  /** The frames that a message of the newest step is from. */
  readonly framesOf: (message: number) => readonly number[];
};

type SliceMessages = readonly { readonly hash: MessageHash; readonly seqs: readonly number[] }[];

/**
 * The messages of the snapshots of a branch, one after the other: each slice of the thread is read once.
 *
 * @param hashOf the hash of a message's comparable JSON
 */
export const openThreadMessages = (
  projection: Projection,
  history: string,
  hashOf: (comparable: string) => MessageHash = hashOfMessage,
): ThreadMessages => {
  const known = new WeakMap<ThreadSlice, SliceMessages>();
  const slices: SliceMessages[] = [];
  const messages: MessageHash[] = [];

  const payloadOf = async ({ seq, index }: EventRef): Promise<ReturnType<typeof payloadIn>> => {
    const event = (await projection.payloads.events(history, seq, { once: true }))[index];
    return event === undefined ? {} : payloadIn(event);
  };
  const readSlice = async (slice: ThreadSlice): Promise<SliceMessages> => {
    const seqs = new Map<string, number>();
    const blocks = [];
    for (const { headers, payload, inSys } of slice) {
      seqs.set(headers.id, payload.seq);
      blocks.push({
        id: headers.id,
        role: roleOf(headers, inSys),
        kind: headers.kind ?? null,
        payload: await payloadOf(payload),
      });
    }
    return recordedMessages(blocks).map(({ json, blocks: own }) => ({
      hash: hashOf(json),
      seqs: own.map(({ id }) => seqs.get(id) ?? 0),
    }));
  };
  const messagesIn = async (slice: ThreadSlice): Promise<SliceMessages> => {
    const found = known.get(slice) ?? (await readSlice(slice));
    known.set(slice, found);
    return found;
  };

  return {
    async at({ firstChanged, after }) {
      slices.length = firstChanged;
      const shared = slices.reduce((sum, slice) => sum + slice.length, 0);
      messages.length = shared;
      for (const slice of after) {
        const found = await messagesIn(slice);
        slices.push(found);
        for (const { hash } of found) messages.push(hash);
      }
      return { messages, shared };
    },
    framesOf: (message) => {
      let before = 0;
      for (const slice of slices) {
        const found = slice[message - before];
        if (found !== undefined) return found.seqs;
        before += slice.length;
      }
      return [];
    },
  };
};
