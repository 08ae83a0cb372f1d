import type { HistoryEvent } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import { LRUCache } from 'lru-cache';
import type { Outcome } from './outcome.ts';
import type { HashedPrompt } from './prompt-hash.ts';
import type { LastCall } from './start-call.ts';

/** The newest call of a branch, which shows exactly its messages, and the newest frame of the branch. */
export type Continuation = { readonly last: LastCall; readonly tip: number };

/** The last call of a conversation: its messages, and the branch that it was recorded in. */
export type Conversation = HashedPrompt & { readonly branch: BranchRef };

/**
 * The conversations that this process recorded last, so that a call that goes on with one reads nothing of it. What it says of a
 * branch holds as long as no other process wrote to the history: its frames are counted.
 */
export type Conversations = {
  /** By what a conversation begins with. */
  readonly find: (beginning: string) => Conversation | undefined;
  /** Undefined if the branch changed since its last call or was abandoned, or may have been. */
  readonly continuation: (
    branch: BranchRef,
  ) => (Continuation & { /** The number of the next frame. */ readonly next: number }) | undefined;
  /** A call was recorded in a frame that was just accepted. @param bytes about how much memory its messages take */
  readonly recorded: (
    beginning: string,
    conversation: Conversation,
    newest: Continuation,
    bytes: number,
  ) => void;
  readonly forget: (beginning: string, branch: BranchRef) => void;
  /** A frame of this process was accepted; called in the order of the frames of a history. */
  readonly accepted: (outcome: Pick<Outcome, 'history' | 'branchId' | 'seq' | 'events' | 'repeated'>) => void;
  /** Resolves when the ends of calls of the branch have their outcome that are being recorded now. */
  readonly settled: (branch: BranchRef) => Promise<unknown> | undefined;
  /** The end of a call is being recorded. */
  readonly ending: (branch: BranchRef, work: Promise<unknown>) => void;
};

type WrittenHistory = { next: number; readonly branches: Map<number, Continuation> };

/** Bytes of messages, and histories, that are remembered. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_HISTORIES = 10_000;

const BYTES_PER_CONVERSATION = 1_000;

export const openConversations = (): Conversations => {
  const conversations = new LRUCache<string, Conversation & { readonly bytes: number }>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }) => bytes + BYTES_PER_CONVERSATION,
  });
  const histories = new LRUCache<string, WrittenHistory>({ max: MAX_HISTORIES });
  const ends = new Map<string, Promise<unknown>>();
  const keyOf = ({ history, branchId }: BranchRef): string => `${history} ${branchId}`;
  return {
    find: (beginning) => conversations.get(beginning),
    continuation: ({ history, branchId }) => {
      const written = histories.get(history);
      const known = written?.branches.get(branchId);
      return written && known && { ...known, next: written.next };
    },
    recorded: (beginning, conversation, newest, bytes) => {
      conversations.set(beginning, { ...conversation, bytes });
      const { history, branchId } = conversation.branch;
      const written = histories.get(history);
      // Another frame may have been accepted since.
      if (written?.next === newest.tip + 1) written.branches.set(branchId, newest);
    },
    forget: (beginning, { history, branchId }) => {
      conversations.delete(beginning);
      histories.get(history)?.branches.delete(branchId);
    },
    accepted: ({ history, branchId, seq, events, repeated }) => {
      if (repeated) return;
      const written = histories.get(history) ?? { next: seq, branches: new Map<number, Continuation>() };
      if (written.next !== seq) written.branches.clear();
      written.next = seq + 1;
      for (const event of events)
        if (event.type === 'BranchStarted' && event.how === 'rollback') written.branches.delete(event.parent);
      const known = written.branches.get(branchId);
      if (known !== undefined && events.every(isEnd)) written.branches.set(branchId, { ...known, tip: seq });
      else written.branches.delete(branchId);
      histories.set(history, written);
    },
    settled: (branch) => ends.get(keyOf(branch)),
    ending: (branch, work) => {
      const key = keyOf(branch);
      const all = Promise.allSettled([ends.get(key), work]);
      ends.set(key, all);
      void all.then(() => {
        if (ends.get(key) === all) ends.delete(key);
      });
    },
  };
};

const isEnd = ({ type }: HistoryEvent): boolean => type === 'CallFinished';
