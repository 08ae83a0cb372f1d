import type { Segment, TreeView } from '@stemma/history-store';
import { recordedMessages, threadBlocks } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { findFrameSummary } from '@stemma/read-models';
import { messageKey } from '../threads/message-key.ts';
import { alignMessages, type MessagePair, type ThreadMessage } from './align-messages.ts';
import { comparedFrame } from './compare-frames.ts';
import { messagesEditedBy, type EditedMessage } from './side-edits.ts';
import type { ComparedFrame, ComparedMessage, ComparedNode, ComparedThreads, MessageCause } from './types.ts';

/** One side of a comparison of threads. */
export type ThreadSide = {
  readonly view: TreeView;
  /** The ancestor path, and the frame after which the two sides are compared. */
  readonly path: readonly Segment[];
  readonly after: number;
  /** The snapshot of the first call that was shown something else than that of the other side. */
  readonly since: { readonly cycle: number; readonly seq: number } | null;
  readonly describe: (id: string) => ComparedNode;
};

/**
 * The messages that two positions show the model, aligned by what they say, so that only what really differs is listed, each
 * with the intervention that made it differ.
 */
export const compareThreads = async (
  projection: Projection,
  a: ThreadSide,
  b: ThreadSide,
): Promise<{ readonly threads: ComparedThreads; readonly pairs: readonly (readonly [string, string])[] }> => {
  const aligned = alignMessages(messagesOf(a.view), messagesOf(b.view));
  const at = { a: 0, b: 0 };
  const placed = aligned.map((each) => {
    const here = { ...at };
    at.a += each.a?.ids.length ?? 0;
    at.b += each.b?.ids.length ?? 0;
    return { ...each, at: here };
  });
  const differ = placed.filter((each) => each.a?.key !== each.b?.key);
  const causesIn = { a: await openCauses(projection, a, 'a'), b: await openCauses(projection, b, 'b') };
  const differences: ComparedMessage[] = [];
  for (const pair of differ) {
    const causes = [...(await causesIn.a(pair.a, pair.b?.key)), ...(await causesIn.b(pair.b, pair.a?.key))];
    differences.push({
      what: pair.a === null ? 'only-b' : pair.b === null ? 'only-a' : 'changed',
      at: pair.at,
      a: (pair.a?.ids ?? []).map(a.describe),
      b: (pair.b?.ids ?? []).map(b.describe),
      causes,
      after: causes.length === 0 ? recordedAfter(pair, a, b) : null,
    });
  }
  const same = aligned.filter((each) => each.a?.key === each.b?.key);
  return {
    threads: { same: same.length, differences, since: a.since?.cycle ?? null },
    pairs: same.flatMap((each) => (each.a?.ids ?? []).map((id, i) => [id, each.b?.ids[i] ?? id] as const)),
  };
};

/** The cycle since which calls were shown something else, if every side of a pair was recorded after it. */
const recordedAfter = (pair: MessagePair, a: ThreadSide, b: ThreadSide): number | null => {
  if (a.since === null || b.since === null) return null;
  const isLater = (message: ThreadMessage | null, since: number): boolean =>
    message === null || message.seq > since;
  return isLater(pair.a, a.since.seq) && isLater(pair.b, b.since.seq) ? a.since.cycle : null;
};

const messagesOf = ({ tree, payloads, thread }: TreeView): ThreadMessage[] => {
  const seqOf = (id: string): number => tree.payloads[tree.indexOf(id) ?? -1]?.seq ?? 0;
  return recordedMessages(threadBlocks(tree, payloads, thread)).map(({ blocks: own, json }) => ({
    key: messageKey(json),
    ids: own.map(({ id }) => id),
    role: own[0]?.role ?? null,
    seq: Math.max(...own.map(({ id }) => seqOf(id))),
  }));
};

/** What actors did on a side to a message of it, or to one of the other side that it does not show. */
const openCauses = async (projection: Projection, side: ThreadSide, name: 'a' | 'b') => {
  const { position } = side.view;
  const frameOf = (seq: number): Promise<ComparedFrame> =>
    projection.read((rows) =>
      comparedFrame(rows, position.history, findFrameSummary(rows, position.history, seq)),
    );
  let edits: Map<string, EditedMessage[]> | undefined;
  /** An edit that took a message with this key; each explains one message. */
  const takeEdit = async (key: string, seq?: number): Promise<EditedMessage | undefined> => {
    edits ??= Map.groupBy(
      await messagesEditedBy(projection, position.history, side.path, side.after),
      (edit) => edit.key,
    );
    const ofKey = edits.get(key) ?? [];
    const found = ofKey.findIndex((edit) => seq === undefined || edit.seq === seq);
    return found === -1 ? undefined : ofKey.splice(found, 1)[0];
  };
  return async (own: ThreadMessage | null, others: string | undefined): Promise<MessageCause[]> => {
    if (own !== null) {
      if (own.seq <= side.after) return [];
      const frame = await frameOf(own.seq);
      if (frame.intervention !== null && 'actor' in frame.author) {
        const before = others === undefined ? undefined : await takeEdit(others, own.seq);
        return [{ side: name, how: before === undefined ? 'inserted' : 'replaced', frame }];
      }
    }
    const edit = others === undefined ? undefined : await takeEdit(others);
    if (edit === undefined) return [];
    return [{ side: name, how: edit.how, frame: await frameOf(edit.seq) }];
  };
};
