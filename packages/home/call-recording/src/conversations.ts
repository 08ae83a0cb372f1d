import type { Outcome } from '@stemma/command-handler';
import type { HistoryEvent } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import { LRUCache } from 'lru-cache';

import type { HashedPrompt } from './prompt-hash.ts';
import type { LastCall } from './start-call.ts';

/** The newest call of a branch, which shows exactly its messages, and the newest frame of the branch. */
export type Continuation = { readonly last: LastCall; readonly tip: number };

/** The last call of a conversation: its messages, and the branch that it was recorded in. */
export type Conversation = HashedPrompt & {
  readonly branch: BranchRef;
  /** What {@link Conversations.others} was when the rows had all of them. */
  readonly others: number;
};

/**
 * The conversations that this process recorded last, so that a call that goes on with one reads nothing of it. What it says of a
 * branch holds as long as no other process wrote to the history: its frames are counted.
 */
export type Conversations = {
  /** By what a conversation begins with. */
  readonly find: (beginning: string) => Conversation | undefined;
  /**
   * Undefined if another conversation was recorded in the branch since, if it changed since its last call or was abandoned, or may
   * have been.
   */
  readonly continuation: (
    beginning: string,
    branch: BranchRef,
  ) => (Continuation & { /** The number of the next frame. */ readonly next: number }) | undefined;
  /** A call was recorded in a frame that was just accepted. @param bytes about how much memory its messages and tools take */
  readonly recorded: (
    beginning: string,
    conversation: Conversation,
    newest: Continuation,
    bytes: number,
  ) => void;
  readonly forget: (beginning: string, branch: BranchRef) => void;
  /** A frame of this process was accepted; called in the order of the frames of a history. */
  readonly accepted: (outcome: Pick<Outcome, 'history' | 'branchId' | 'seq' | 'events' | 'repeated'>) => void;
  /** Grows with every call over the scope that somebody else than the recorder of this has recorded; maybe with others too. */
  readonly others: (scope: string) => number;
  /** Whatever has the attempt's id until the work has ended was recorded by who remembers conversations here. */
  readonly recording: <T>(attemptId: string, work: () => Promise<T>) => Promise<T>;
  /** Resolves when the ends of calls of the branch have their outcome that are being recorded now. */
  readonly settled: (branch: BranchRef) => Promise<unknown> | undefined;
  /** The end of a call is being recorded. */
  readonly ending: (branch: BranchRef, work: Promise<unknown>) => void;
};

/** A conversation with the tools of its last call: both are large, and go together. */
type KeptConversation = Conversation & { readonly bytes: number; readonly tools: LastCall['tools'] };

/** What the newest call of a branch begins with: a conversation that another one rewrote has no continuation. */
type BegunContinuation = Continuation & { readonly beginning: string };

type WrittenHistory = { next: number; readonly branches: Map<number, BegunContinuation> };

/** Bytes of messages and tools, and histories, that are remembered. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_HISTORIES = 10_000;

const BYTES_PER_CONVERSATION = 1_000;

export const openConversations = (): Conversations => {
  const conversations = new LRUCache<string, KeptConversation>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }) => bytes + BYTES_PER_CONVERSATION,
  });
  // With `max` it would make room for all of them at once, which takes two milliseconds of whoever opens a home.
  const histories = new LRUCache<string, WrittenHistory>({
    maxSize: MAX_HISTORIES,
    sizeCalculation: () => 1,
  });
  const own = new Set<string>();
  const others = new Uint32Array(SCOPES);
  const ends = new Map<string, Promise<unknown>>();
  const keyOf = ({ history, branchId }: BranchRef): string => `${history} ${branchId}`;
  return {
    find: (beginning) => conversations.get(beginning),
    continuation: (beginning, branch) => {
      const { history, branchId } = branch;
      const written = histories.get(history);
      const known = written?.branches.get(branchId);
      const kept = conversations.peek(beginning);
      if (written === undefined || known?.beginning !== beginning || kept === undefined) return undefined;
      if (keyOf(kept.branch) !== keyOf(branch)) return undefined;
      return { last: { ...known.last, tools: kept.tools }, tip: known.tip, next: written.next };
    },
    recorded: (beginning, conversation, newest, bytes) => {
      const { tools } = newest.last;
      conversations.set(beginning, { ...conversation, bytes, tools });
      const { history, branchId } = conversation.branch;
      const written = histories.get(history);
      // Another frame may have been accepted since.
      if (written?.next === newest.tip + 1)
        written.branches.set(branchId, { beginning, tip: newest.tip, last: { ...newest.last, tools: null } });
    },
    forget: (beginning, { history, branchId }) => {
      conversations.delete(beginning);
      histories.get(history)?.branches.delete(branchId);
    },
    accepted: ({ history, branchId, seq, events, repeated }) => {
      if (repeated) return;
      const written = histories.get(history) ?? { next: seq, branches: new Map<number, BegunContinuation>() };
      if (written.next !== seq) written.branches.clear();
      written.next = seq + 1;
      for (const event of events) {
        if (event.type === 'BranchStarted' && event.how === 'rollback') written.branches.delete(event.parent);
        // Another attempt may be with a snapshot of the branch that this one began at: the next call copies from it.
        if (event.type === 'CallStarted' && event.branchId !== branchId)
          written.branches.delete(event.branchId);
        if (event.type === 'CallStarted' && event.prompt !== null && !own.has(event.attemptId))
          others[placeOf(event.prompt.scope)]! += 1;
      }
      const known = written.branches.get(branchId);
      if (known !== undefined && events.every(isEnd)) written.branches.set(branchId, { ...known, tip: seq });
      else written.branches.delete(branchId);
      histories.set(history, written);
    },
    others: (scope) => others[placeOf(scope)] as number,
    recording: async (attemptId, work) => {
      own.add(attemptId);
      try {
        return await work();
      } finally {
        own.delete(attemptId);
      }
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

/** Counters of calls over scopes; some scopes share one. */
const SCOPES = 1_024;
const placeOf = (scope: string): number => {
  let hash = 0;
  for (let i = 0; i < scope.length; i++) hash = (Math.imul(hash, 31) + scope.charCodeAt(i)) | 0;
  return (hash >>> 0) % SCOPES;
};

/** It moves the tip of a branch, and changes nothing of what the branch shows. */
const isEnd = ({ type }: HistoryEvent): boolean => type === 'CallFinished' || type === 'ProviderCallRecorded';
