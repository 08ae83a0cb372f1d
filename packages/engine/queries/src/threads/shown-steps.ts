import { canonicalJson, isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { roleOf, threadIndexes, type EventRef, type Headers } from '@stemma/context-tree';
import { payloadIn } from '@stemma/history';
import {
  positionOfFrame,
  readThreadTimeline,
  readTipSeq,
  type BranchRef,
  type Position,
  type ThreadSlice,
  type TreeView,
} from '@stemma/history-store';
import { blocksToMessages, messageGroups } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { catchUpWith } from '../catch-up-with.ts';
import { millisecondsOf } from '@stemma/values';

/** A message as the chat API has it. */
export type DatedMessage = {
  readonly message: WideJsonObject;
  /** Milliseconds since 1970 when it was made; null: nobody says. */
  readonly at: number | null;
};

/** What a branch shows at a snapshot, or (`cycle` is null) at its tip, with what stands behind the newest snapshot. */
export type ShownStep = {
  readonly cycle: number | null;
  /** The position: of the walked branch, or of one before it on the ancestor path. */
  readonly branchId: number;
  readonly seq: number;
  /** All messages that it shows; the list stays as it is when the next step comes. */
  readonly messages: readonly DatedMessage[];
  /** So many of them, at the beginning, are those of the step before. */
  readonly shared: number;
  /** What an imported file said beside its list of messages: `model`, `tools`. */
  readonly beside: WideJsonObject;
};

/**
 * The messages of all snapshots on the ancestor path of a branch, oldest first, and those of its tip. Every content is read once: all
 * steps together cost what the branch ever showed, not the sum of its prompts.
 */
export async function* walkShown(
  projection: Projection,
  view: (position: Position) => Promise<TreeView>,
  branchRef: BranchRef,
): AsyncGenerator<ShownStep> {
  const { history, branchId } = branchRef;
  await catchUpWith(projection, history);
  const { steps, tip } = await projection.read((rows) => {
    const seq = readTipSeq(rows, history, branchId);
    return {
      steps: [...readThreadTimeline(rows, history, branchId, seq)],
      tip: positionOfFrame(rows, history, branchId, seq),
    };
  });
  const thread = openShownThread(async ({ seq, index }) => {
    const event = (await projection.payloads.events(history, seq, { once: true }))[index];
    return event === undefined ? {} : payloadIn(event);
  });
  for (const { snapshot, firstChanged, after } of steps) {
    const { cycle, branchId: at, seq } = snapshot;
    yield { cycle, branchId: at, seq, ...(await thread.step(firstChanged, after)) };
  }
  const { tree, payloads, thread: mode } = await view(tip);
  const blocks = threadIndexes(tree, mode).map((index): ShownBlock => {
    const headers = tree.headers[index] as Headers;
    const ref = tree.payloads[index];
    return blockOf(headers, index < tree.seq, ref === null || ref === undefined ? {} : payloads(ref));
  });
  yield { cycle: null, branchId, seq: tip.seq, ...thread.end(blocks) };
}

type ShownBlock = {
  readonly id: string;
  readonly role: string | null;
  readonly kind: string | null;
  readonly payload: WideJsonObject;
  readonly at: number | null;
};

type Shown = Pick<ShownStep, 'messages' | 'shared' | 'beside'>;

/** Clocks of before 2001 are ordinals of importers, which have no times. */
const FIRST_TIME = 978_307_200_000;

const blockOf = (headers: Headers, inSys: boolean, payload: WideJsonObject): ShownBlock => {
  const at = millisecondsOf(headers.created_at_ns);
  return {
    id: headers.id,
    role: roleOf(headers, inSys),
    kind: headers.kind ?? null,
    payload,
    at: at < FIRST_TIME ? null : at,
  };
};

const openShownThread = (payloadOf: (ref: EventRef) => Promise<WideJsonObject>) => {
  const known = new WeakMap<ThreadSlice, readonly ShownBlock[]>();
  /** Of each slice its blocks, and the messages before it. */
  const slices: { readonly blocks: readonly ShownBlock[]; readonly before: number }[] = [];
  let messages: readonly DatedMessage[] = [];
  let beside: WideJsonObject = {};

  const blocksIn = async (slice: ThreadSlice): Promise<readonly ShownBlock[]> => {
    const found = known.get(slice);
    if (found !== undefined) return found;
    const blocks: ShownBlock[] = [];
    for (const { headers, payload, inSys } of slice)
      blocks.push(blockOf(headers, inSys, await payloadOf(payload)));
    known.set(slice, blocks);
    return blocks;
  };
  const shownAll = (blocks: readonly ShownBlock[]): Shown => {
    const whole = messagesOf(blocks);
    const shared = samePrefix(messages, whole);
    messages = [...messages.slice(0, shared), ...whole.slice(shared)];
    return { messages, shared, beside };
  };
  return {
    async step(firstChanged: number, after: readonly ThreadSlice[]): Promise<Shown> {
      const first = slices[firstChanged]?.before ?? messages.length;
      slices.length = firstChanged;
      const added: DatedMessage[] = [];
      let isRecorded = true;
      for (const slice of after) {
        const blocks = await blocksIn(slice);
        beside = besideIn(blocks) ?? beside;
        slices.push({ blocks, before: first + added.length });
        isRecorded &&= blocks.every(isOfMessage);
        added.push(...messagesOf(blocks));
      }
      // A block that a person inserted may be a part of the message before it.
      if (!isRecorded) return shownAll(slices.flatMap(({ blocks }) => blocks));
      // What was open before is sealed now: it is the same message.
      const shared = first + samePrefix(messages.slice(first), added);
      messages = [...messages.slice(0, shared), ...added.slice(shared - first)];
      return { messages, shared, beside };
    },
    end(blocks: readonly ShownBlock[]): Shown {
      beside = besideIn(blocks) ?? beside;
      return shownAll(blocks);
    },
  };
};

/** True for a block of which an importer or recorder noted the message. */
const isOfMessage = ({ payload }: ShownBlock): boolean =>
  payload['data_message'] !== undefined || payload['data_continues'] !== undefined;

/** The messages of blocks, with the time of the first block of each. */
const messagesOf = (blocks: readonly ShownBlock[]): readonly DatedMessage[] => {
  if (!blocks.every(isOfMessage)) return blocksToMessages(blocks).map((message) => ({ message, at: null }));
  return messageGroups(blocks).flatMap((group) =>
    blocksToMessages(group).map((message) => ({ message, at: group[0]?.at ?? null })),
  );
};

const besideIn = (blocks: readonly ShownBlock[]): WideJsonObject | undefined =>
  blocks.map(({ payload }) => payload['data_conversation']).find(isJsonObject);

const samePrefix = (a: readonly DatedMessage[], b: readonly DatedMessage[]): number => {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && isSame(a[same], b[same])) same++;
  return same;
};

const isSame = (a: DatedMessage | undefined, b: DatedMessage | undefined): boolean =>
  a === b || canonicalJson(a?.message ?? null) === canonicalJson(b?.message ?? null);
