import { pack, sha256 } from '@stemma/canonical';
import type { Body, Envelope, HistoryEvent } from '@stemma/events';
import { prose, seeded } from '../text.ts';

/** Characters of a content, so that the event takes about 480 bytes. */
export const CONTENT_LENGTH = 310;

/** The fact that is appended: a block came in. The same for every system. */
export const insertion = (number: number): Extract<HistoryEvent, { type: 'NodeInserted' }> => ({
  type: 'NodeInserted',
  parent: 'ah',
  expires: null,
  node: {
    id: `n${number}`,
    nodeType: 'cb',
    offset: 0,
    ttl: null,
    priority: 0,
    cycle: 1,
    created_at_ns: 1_790_000_000_000_000_000n + BigInt(number),
    creation_index: number,
    role: 'assistant',
    kind: 'text',
    content: prose(seeded(number), CONTENT_LENGTH),
  },
});

export type Entry = { readonly key: string; readonly bytes: Uint8Array };

const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** Records of one history with one event each, each the next of the one before: what a writer would append. */
export const records = (history: string, count: number): readonly Entry[] => {
  const entries: Entry[] = [];
  let prev: Uint8Array = new Uint8Array(32);
  for (let seq = 0; seq < count; seq += 1) {
    const envelope: Envelope = { v: 1, history, seq, prev };
    const body: Body = {
      command: `bench:${seq}`,
      digest: sha256(`bench:${seq}`),
      at: 1_790_000_000_000_000_000n + BigInt(seq),
      branchId: 0,
      recorder: 'bench',
      events: [insertion(seq)],
    };
    const frame = joined(pack(envelope), pack(body as never));
    prev = sha256(frame);
    entries.push({ key: history, bytes: joined(frame, prev) });
  }
  return entries;
};
