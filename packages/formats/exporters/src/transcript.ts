import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { comparableMessage } from '@stemma/model-apis';
import type { ExportedBranch, ExportedCall, ExportedMessage, ExportSource } from './exporter.ts';
import { listOf, textOf } from './fields.ts';
import type { Losses } from './losses.ts';

/** A branch in the order in which it was said: each message once, and each call where it was made. */
export type TranscriptItem =
  | {
      readonly kind: 'message';
      readonly message: WideJsonObject;
      readonly at: number | null;
      /** False: a branch before has it too. */
      readonly isOwn: boolean;
    }
  | {
      readonly kind: 'call';
      readonly call: ExportedCall;
      /** All that the model was shown. */
      readonly shown: readonly ExportedMessage[];
      /** The message of the answer; null: there is none. */
      readonly answer: WideJsonObject | null;
      readonly isOwn: boolean;
    }
  /** So many messages of before are shown no more. */
  | { readonly kind: 'removed'; readonly count: number; readonly isOwn: boolean };

/** The items of a branch, from its root. */
export async function* readTranscript(
  { hasCalls }: Pick<ExportSource, 'hasCalls'>,
  { branchId, isAlone, steps }: ExportedBranch,
): AsyncGenerator<TranscriptItem> {
  /** Answers of calls that the branch may go on with, as they are compared. */
  const answers = new Map<string, number>();
  let before: readonly ExportedMessage[] = [];
  /** The snapshot that an answer follows, where no call is recorded. */
  let asked: { readonly cycle: number; readonly beside: WideJsonObject } | null = null;
  for await (const { cycle, branchId: of, messages, shared, beside, calls } of steps()) {
    const isOwn = isAlone || of === branchId;
    const { added, removed } = changed(before, messages, shared);
    if (removed > 0) yield { kind: 'removed', count: removed, isOwn };
    for (const { message, at } of added) {
      if (asked !== null && message['role'] === 'assistant') {
        const call = unrecordedCall(asked, of, message);
        yield { kind: 'call', call, shown: before, answer: message, isOwn };
        asked = null;
      } else if (!take(answers, message)) yield { kind: 'message', message, at, isOwn };
    }
    for (const call of calls) {
      const answer = isJsonObject(call.answer) ? call.answer : null;
      yield { kind: 'call', call, shown: messages, answer, isOwn };
      if (answer !== null) put(answers, answer);
    }
    asked = hasCalls || cycle === null ? null : { cycle, beside };
    before = messages;
  }
}

/**
 * The calls of all branches, each once. What stands behind the last call of a branch is added to `lost`: no call was shown it.
 *
 * @param hasTip true for a branch whose tip the export holds beside its calls
 */
export async function* readCalls(
  source: ExportSource,
  lost: Losses,
  hasTip: (branch: ExportedBranch) => boolean = () => false,
): AsyncGenerator<Extract<TranscriptItem, { readonly kind: 'call' }>> {
  for (const branch of source.branches) {
    let unshown = 0;
    for await (const item of readTranscript(source, branch)) {
      if (item.kind === 'call') unshown = 0;
      else if (item.kind === 'message' && item.isOwn) unshown += 1;
      if (item.kind === 'call' && item.isOwn) yield item;
    }
    if (!hasTip(branch)) lost.add('message that no call was shown', unshown);
  }
}

/** The messages of a step that the one before does not show, and how many of that one it shows no more. */
export const changed = (
  before: readonly ExportedMessage[],
  messages: readonly ExportedMessage[],
  shared: number,
): { readonly added: readonly ExportedMessage[]; readonly removed: number } => {
  if (shared >= before.length) return { added: messages.slice(shared), removed: 0 };
  const known = new Map<string, number>();
  for (const { message } of before.slice(shared)) put(known, message);
  const added = messages.slice(shared).filter(({ message }) => !take(known, message));
  return { added, removed: [...known.values()].reduce((sum, count) => sum + count, 0) };
};

const put = (counts: Map<string, number>, message: WideJsonObject): void => {
  const key = comparableMessage(message);
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

/** Takes one message that is equal; false: there is none. */
const take = (counts: Map<string, number>, message: WideJsonObject): boolean => {
  if (counts.size === 0) return false;
  const key = comparableMessage(message);
  const count = counts.get(key) ?? 0;
  if (count <= 1) counts.delete(key);
  else counts.set(key, count - 1);
  return count > 0;
};

/** What is known of a call that an answer stands for. */
const unrecordedCall = (
  { cycle, beside }: { readonly cycle: number; readonly beside: WideJsonObject },
  branchId: number,
  answer: WideJson,
): ExportedCall => {
  const nobodySaw = { contentType: null, coding: null };
  const tools = beside['tools'];
  return {
    // Branches that part there have answers of their own.
    attemptId: branchId === 0 ? `@c${cycle}` : `${branchId}@c${cycle}`,
    label: `@c${cycle}`,
    sentAt: null,
    fidelity: { kind: 'reconstructed', missing: [] },
    api: 'other',
    model: textOf(beside['model']) ?? null,
    parameters: {},
    tools: tools === undefined ? null : listOf(tools),
    answer,
    status: 'answered',
    finishReason: null,
    usage: null,
    cost: null,
    firstByteMs: null,
    durationMs: null,
    error: null,
    httpStatus: null,
    origin: null,
    path: null,
    requestHead: nobodySaw,
    responseHead: nobodySaw,
    request: null,
    response: null,
  };
};
